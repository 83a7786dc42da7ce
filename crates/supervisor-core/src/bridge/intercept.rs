//! Which requests stop for us, and how the host's own interception goes on beside it.

use cdp_wire::fetch::{self, RequestPattern};
use serde_json::{Map, Value, json};

use crate::context::Cx;
use crate::ids::Route;
use crate::limits::MAX_HOST_PATTERNS;

/// Both schemes: the script uses `https`, but a page may try the other one, and is told no.
const SCHEMES: [&str; 2] = ["https", "http"];

/// The patterns of the bridge.
pub(crate) fn patterns(host: &str) -> Vec<RequestPattern> {
    let pattern =
        |scheme| RequestPattern { url_pattern: format!("{scheme}://{host}/*"), resource_type: None };
    SCHEMES.into_iter().map(pattern).collect()
}

/// The path of a request to the bridge's host.
pub(crate) fn path<'u>(url: &'u str, host: &str) -> Option<&'u str> {
    let rest = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)?.strip_prefix("://"))?;
    rest.strip_prefix(host)?.strip_prefix('/')
}

/// Has the browser stop the bridge's requests on this session, and the host's where it asked for any.
pub(crate) fn enable(cx: &mut Cx<'_>, route: &Route) {
    let host_params = cx.desk.host_fetch.get(route).cloned();
    let patterns = patterns(&cx.state().options.bridge_host);
    match host_params {
        None => {
            cx.send(route, &fetch::Enable { patterns }, crate::flights::Purpose::Setup);
        }
        Some(params) => {
            let merged = merged(&params, &patterns);
            cx.send_raw(route, "Fetch.enable", &merged, crate::flights::Purpose::Setup);
        }
    }
}

/// Leaves only the host's interception on this session.
pub(crate) fn disable(cx: &mut Cx<'_>, route: &Route) {
    match cx.desk.host_fetch.get(route).cloned() {
        None => {
            cx.send(route, &fetch::Disable {}, crate::flights::Purpose::Setup);
        }
        Some(params) => {
            cx.send_raw(route, "Fetch.enable", &params, crate::flights::Purpose::Setup);
        }
    }
}

/// What is sent when a host changes its interception: CDP has one list of patterns a session, so ours go along.
pub(crate) fn host_asked(
    cx: &mut Cx<'_>,
    route: &Route,
    method: &str,
    params: &str,
) -> Option<(String, String)> {
    match method {
        "Fetch.enable" if params.len() <= MAX_HOST_PATTERNS => remember(cx, route, params),
        "Fetch.disable" => drop(cx.desk.host_fetch.remove(route)),
        _ => return None,
    }
    if !cx.state().bridge.on {
        return None;
    }
    let ours = patterns(&cx.state().options.bridge_host);
    let params = if method == "Fetch.enable" { merged(params, &ours) } else { only(&ours) };
    Some(("Fetch.enable".to_owned(), params))
}

/// Host parameters are no part of the state: they are kept beside it, for sessions that are there.
fn remember(cx: &mut Cx<'_>, route: &Route, params: &str) {
    let sessions = &cx.state().sessions;
    let gone: Vec<Route> =
        cx.desk.host_fetch.keys().filter(|route| sessions.get(route).is_none()).cloned().collect();
    for route in gone {
        cx.desk.host_fetch.remove(&route);
    }
    cx.desk.host_fetch.insert(route.clone(), params.to_owned());
}

fn only(ours: &[RequestPattern]) -> String {
    json!({ "patterns": ours }).to_string()
}

/// The host's parameters with our patterns added. Without any, a host means every request.
fn merged(params: &str, ours: &[RequestPattern]) -> String {
    let mut fields: Map<String, Value> = serde_json::from_str(params).unwrap_or_default();
    let ours = ours.iter().map(|pattern| json!(pattern));
    match fields.get_mut("patterns").and_then(Value::as_array_mut) {
        Some(patterns) => patterns.extend(ours),
        None => {
            let all = std::iter::once(json!({ "urlPattern": "*" }));
            fields.insert("patterns".to_owned(), all.chain(ours).collect());
        }
    }
    Value::Object(fields).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_host_is_ours_whatever_the_scheme() {
        assert_eq!(path("https://bridge.invalid/abc", "bridge.invalid"), Some("abc"));
        assert_eq!(path("http://bridge.invalid/", "bridge.invalid"), Some(""));
        let others =
            ["https://bridge.invalid.evil.test/a", "https://bridge.invalid:1/a", "ftp://bridge.invalid/a"];
        assert!(others.iter().all(|url| path(url, "bridge.invalid").is_none()));
    }

    #[test]
    fn a_hosts_patterns_stay_and_none_means_all() {
        let ours = patterns("h");
        let with = |params: &str| serde_json::from_str::<Value>(&merged(params, &ours)).unwrap_or_default();
        let own = with(r#"{"patterns":[{"urlPattern":"*.png"}],"handleAuthRequests":true}"#);
        assert_eq!(own["patterns"][0], json!({"urlPattern": "*.png"}));
        assert_eq!(own["patterns"][1], json!({"urlPattern": "https://h/*"}));
        assert_eq!(own["handleAuthRequests"], json!(true));
        assert_eq!(with("{}")["patterns"][0], json!({"urlPattern": "*"}));
    }
}

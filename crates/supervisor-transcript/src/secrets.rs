//! What is never written into a recording, redacted or not: the values of cookies and of `Authorization` headers, and the
//! passwords of HTTP authentication, where the protocol has fields for them.
//!
//! The machine reads none of these fields, so that a recording without them replays to the same events. What pages say in
//! their own words (results of expressions, bodies, console texts) is not looked at: that is what redaction is for.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use supervisor_core::Command;

use crate::json::string_length;
use crate::line::{Entry, GuardEntry, Line};

/// The line without secrets.
pub(crate) fn without<'a>(line: Line<'a>) -> Line<'a> {
    let entry = match line.entry {
        Entry::Recv { epoch, text } => Entry::Recv { epoch, text: replaced(text, message) },
        Entry::Send { text } => Entry::Send { text: replaced(text, message) },
        Entry::Guard(GuardEntry::Recv { epoch, text }) => {
            Entry::Guard(GuardEntry::Recv { epoch, text: replaced(text, message) })
        }
        Entry::Guard(GuardEntry::Send { text }) => {
            Entry::Guard(GuardEntry::Send { text: replaced(text, message) })
        }
        Entry::Host { req, command: Command::Call { place, method, params, timeout_ms } } => {
            let params = replaced(params.into(), |text| self::params(&method, text)).into_owned();
            Entry::Host { req, command: Command::Call { place, method, params, timeout_ms } }
        }
        other => other,
    };
    Line { at: line.at, entry }
}

fn replaced<'a>(text: Cow<'a, str>, secrets: impl Fn(&str) -> Vec<Range<usize>>) -> Cow<'a, str> {
    if !may_hold_any(&text) {
        return text;
    }
    match &secrets(&text)[..] {
        [] => text,
        found => Cow::Owned(blanked(&text, found)),
    }
}

/// Nearly all messages have nothing that looks like a field for secrets.
fn may_hold_any(text: &str) -> bool {
    static MARKS: LazyLock<[Finder<'static>; 4]> =
        LazyLock::new(|| ["ookie", "uthorization", "eadersText", "assword"].map(Finder::new));
    MARKS.iter().any(|mark| mark.find(text.as_bytes()).is_some())
}

/// The places of secrets in a message.
fn message(text: &str) -> Vec<Range<usize>> {
    let mut search = Search { text, found: Vec::new() };
    let fields = fields(text);
    let method = fields.iter().find(|(name, _)| name == "method").and_then(|(_, method)| string(method));
    for (name, value) in &fields {
        match (name.as_ref(), &method) {
            ("params", Some(method)) => search.params(method, value),
            ("result", None) => search.result(value),
            _ => {}
        }
    }
    search.found
}

fn params(method: &str, text: &str) -> Vec<Range<usize>> {
    let mut search = Search { text, found: Vec::new() };
    search.params(method, text);
    search.found
}

/// Domains that have no field for secrets, and whose events the machine reads.
const HARMLESS: [&str; 6] = ["Page.", "Runtime.", "Target.", "Log.", "Inspector.", "Browser."];

/// Names of fields and of headers, in lower case.
fn is_secret(name: &str) -> bool {
    matches!(
        name.to_ascii_lowercase().as_str(),
        "cookie"
            | "set-cookie"
            | "authorization"
            | "proxy-authorization"
            | "cookies"
            | "associatedcookies"
            | "blockedcookies"
            | "exemptedcookies"
            | "cookieline"
            | "rawcookieline"
            | "headerstext"
            | "requestheaderstext"
            | "password"
    )
}

struct Search<'a> {
    text: &'a str,
    found: Vec<Range<usize>>,
}

impl<'a> Search<'a> {
    fn params(&mut self, method: &str, params: &'a str) {
        if HARMLESS.iter().any(|domain| method.starts_with(domain)) {
            return;
        }
        self.value(params);
        if method == "Network.setCookie" {
            self.field_of(params, "value");
        }
    }

    /// What an expression came to is the page's own.
    fn result(&mut self, result: &'a str) {
        for (name, value) in fields(result) {
            if !matches!(name.as_ref(), "result" | "exceptionDetails") {
                self.field(&name, value);
            }
        }
    }

    fn value(&mut self, value: &'a str) {
        match value.as_bytes().first() {
            Some(b'{') => self.object(value),
            Some(b'[') => items(value).into_iter().for_each(|item| self.value(item.get())),
            _ => {}
        }
    }

    fn object(&mut self, object: &'a str) {
        let fields = fields(object);
        let named = fields.iter().find(|(name, _)| name == "name").and_then(|(_, value)| string(value));
        for (name, value) in &fields {
            self.field(name, value);
        }
        // A header as a pair: `{"name": "Cookie", "value": "…"}`.
        if named.is_some_and(|name| is_secret(&name)) {
            self.field_of(object, "value");
        }
    }

    fn field(&mut self, name: &str, value: &'a str) {
        if is_secret(name) { self.secret(value) } else { self.value(value) }
    }

    fn field_of(&mut self, object: &'a str, wanted: &str) {
        if let Some((_, value)) = fields(object).into_iter().find(|(name, _)| name == wanted) {
            self.secret(value);
        }
    }

    fn secret(&mut self, value: &'a str) {
        let start = value.as_ptr().addr() - self.text.as_ptr().addr();
        self.found.push(start..start + value.len());
    }
}

/// The fields of an object; none when it is none.
fn fields(object: &str) -> Vec<(Cow<'_, str>, &str)> {
    serde_json::from_str::<Fields<'_>>(object).map(|fields| fields.0).unwrap_or_default()
}

fn items(array: &str) -> Vec<&RawValue> {
    serde_json::from_str(array).unwrap_or_default()
}

fn string(value: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str::<cdp_wire::Text<'_>>(value).ok().map(cdp_wire::Text::into_cow)
}

struct Fields<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<cdp_wire::Text<'de>, &'de RawValue>()? {
                    fields.push((name.into_cow(), value.get()));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Each character of each string in these places becomes a star.
fn blanked(text: &str, places: &[Range<usize>]) -> String {
    let mut places = places.to_vec();
    places.sort_by_key(|place| place.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for place in places.into_iter().filter(|place| !place.is_empty()) {
        if place.start < from {
            continue;
        }
        out.push_str(&text[from..place.start]);
        stars(&text[place.clone()], &mut out);
        from = place.end;
    }
    out.push_str(&text[from..]);
    out
}

fn stars(value: &str, out: &mut String) {
    let mut rest = value;
    while let Some(start) = rest.find('"') {
        let (before, from) = rest.split_at(start);
        let (text, after) = from.split_at(string_length(from));
        out.push_str(before);
        // The names of fields are the protocol's.
        if after.trim_start().starts_with(':') {
            out.push_str(text)
        } else {
            star(text, out)
        }
        rest = after;
    }
    out.push_str(rest);
}

fn star(text: &str, out: &mut String) {
    let mut characters = text[1..text.len() - 1].chars();
    out.push('"');
    while let Some(character) = characters.next() {
        if character == '\\' {
            characters.next();
        }
        out.push('*');
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use supervisor_core::{At, Epoch, Place, Req};

    use super::*;

    fn kept(message: &Value) -> String {
        let text = message.to_string();
        let line = Line { at: At(0), entry: Entry::Recv { epoch: Epoch(0), text: text.into() } };
        match without(line).entry {
            Entry::Recv { text, .. } => text.into_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_of_cookies_and_authorisations_are_not_written() {
        let secret = "s3cr\"et\n\u{e9}";
        for message in [
            json!({"method": "Network.requestWillBeSentExtraInfo", "params": {"headers": {"Cookie": secret,
                "authorization": secret}, "associatedCookies": [{"cookie": {"name": secret, "value": secret}}]}}),
            json!({"method": "Network.responseReceivedExtraInfo", "params": {"headers": {"set-cookie": secret},
                "headersText": secret, "blockedCookies": [{"cookieLine": secret}]}}),
            json!({"method": "Fetch.requestPaused", "params": {"request": {"headers": {"Proxy-Authorization": secret}},
                "responseHeaders": [{"value": secret, "name": "SET-COOKIE"}]}}),
            json!({"id": 1, "result": {"cookies": [{"name": secret, "value": secret}]}}),
            json!({"id": 1, "method": "Fetch.continueWithAuth", "params": {"authChallengeResponse":
                {"response": "ProvideCredentials", "username": "me", "password": secret}}}),
            json!({"id": 1, "method": "Network.setCookie", "params": {"name": "a", "value": secret, "url": "u"}}),
            json!({"id": 1, "method": "Storage.setCookies", "params": {"cookies": [{"name": "a", "value": secret}]}}),
        ] {
            let kept = kept(&message);
            assert!(!kept.contains("s3cr"), "{kept}");
            assert!(serde_json::from_str::<Value>(&kept).is_ok(), "{kept}");
        }
    }

    #[test]
    fn what_is_no_secret_stays_byte_for_byte() {
        for message in [
            json!({"method": "Page.javascriptDialogOpening", "params": {"message": "Cookie", "cookies": ["yes"]}}),
            json!({"method": "Runtime.consoleAPICalled", "params": {"args": [{"preview": {"properties":
                [{"name": "cookie", "value": "shown"}]}}]}}),
            json!({"id": 1, "result": {"result": {"type": "object", "value": {"password": "page's own"}}}}),
            json!({"id": 1, "error": {"message": "no cookie"}}),
            json!({"method": "Network.setCookies", "params": {"url": "Authorization"}}),
            json!("Cookie"),
        ] {
            assert_eq!(kept(&message), message.to_string());
        }
        let numbers = json!({"method": "Network.x", "params": {"cookies": [{"a": 12, "b": true}]}});
        assert_eq!(kept(&numbers), numbers.to_string(), "only texts are secrets");
    }

    #[test]
    fn a_hosts_call_loses_what_the_message_that_carries_it_loses() {
        let params = r#"{"name":"a","value":"s3cret","headers":{"Cookie":"s3cret"}}"#.to_owned();
        let method = "Network.setCookie".to_owned();
        let sent = format!(r#"{{"id":1,"method":"{method}","params":{params}}}"#);
        let command = Command::Call { place: Place::Active, method, params, timeout_ms: None };
        let line = without(Line { at: At(0), entry: Entry::Host { req: Req(1), command } });
        let Entry::Host { command: Command::Call { params, .. }, .. } = line.entry else {
            panic!("{line:?}")
        };
        assert!(!params.contains("s3cret"));
        let line = without(Line { at: At(0), entry: Entry::Send { text: sent.into() } });
        let Entry::Send { text } = line.entry else { panic!("{line:?}") };
        assert!(text.ends_with(&format!("{params}}}")), "{text} {params}");
    }

    proptest! {
        #[test]
        fn whatever_comes_stays_json(value in "\\PC*", name in "\\PC*") {
            let message = json!({"method": "Network.x", "params": {"Cookie": value, &name: [{"name": "cookie", "value": {&value: &name}}]}});
            let text = message.to_string();
            let blank = blanked(&text, &super::message(&text));
            prop_assert!(serde_json::from_str::<Value>(&blank).is_ok(), "{}", blank);
        }

        #[test]
        fn no_text_makes_it_fail(text in "(?s).*[Cc]ookie.*") {
            let _ = blanked(&text, &super::message(&text));
        }
    }
}

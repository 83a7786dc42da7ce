//! `doctor`, as a user runs it.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// Surroundings of our own.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("run")).unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str, mode: u32) {
        let path = self.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Runs it; gives its exit code and what it says.
    fn doctor(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
        command.arg("doctor").args(args).current_dir(self.path()).stdin(Stdio::null()).env_clear();
        command.env("HOME", self.path()).env("XDG_RUNTIME_DIR", self.path().join("run"));
        command.env("CHROME", "/nonexistent/chrome").env("HTTPS_PROXY", "http://user:secret@proxy.test");
        let output = command.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap(),
        )
    }

    fn findings(&self, args: &[&str]) -> (Option<i32>, Vec<Value>) {
        let (code, said) = self.doctor(&[args, &["--json"]].concat());
        let said: Value = serde_json::from_str(&said).unwrap();
        (code, said["findings"].as_array().unwrap().clone())
    }
}

#[track_caller]
fn find<'a>(findings: &'a [Value], part: &str) -> &'a Value {
    let found = findings.iter().find(|finding| finding["what"].as_str().unwrap().contains(part));
    found.unwrap_or_else(|| panic!("{part}: {findings:#?}"))
}

#[test]
fn a_machine_without_a_browser_is_warned_of_and_not_bad() {
    let home = Home::new();
    let (code, findings) = home.findings(&[]);
    assert_eq!(code, Some(0));
    let browser = find(&findings, "/nonexistent/chrome");
    assert_eq!((&browser["level"], &browser["about"]), (&"warn".into(), &"browser".into()));
    assert!(!browser["next"].as_str().unwrap().is_empty());
    for part in [
        "no file was found",
        "no browser is configured",
        "journals are kept in",
        "the way to a wss browser elsewhere leads through the proxy that HTTPS_PROXY or ALL_PROXY names",
        "127.0.0.1:9222",
    ] {
        find(&findings, part);
    }
    let (_, text) = home.doctor(&[]);
    assert!(text.contains("! browser: ") && text.contains("    next: "), "{text}");
}

#[test]
fn wrong_settings_are_a_finding_with_their_place() {
    let home = Home::new();
    home.write("config.yaml", "browser:\n  guarrd: true\n", 0o600);
    let (code, findings) = home.findings(&[]);
    assert_eq!(code, Some(1));
    let wrong = find(&findings, "config.yaml:2: browser.guarrd");
    assert_eq!((&wrong["level"], &wrong["about"]), (&"bad".into(), &"settings".into()));
    assert!(wrong["next"].as_str().unwrap().contains("--schema"));
}

#[test]
fn a_configured_browser_that_does_not_answer_is_bad_and_a_remote_one_is_left_alone() {
    let home = Home::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let (code, findings) = home.findings(&[&url]);
    assert_eq!(code, Some(1));
    let dead = find(&findings, "nobody answers at");
    assert!(dead["what"].as_str().unwrap().contains("tcp: "), "{dead}");
    let (code, findings) = home.findings(&["wss://host.invalid/?token=secret"]);
    assert_eq!(code, Some(0));
    find(&findings, "wss://host.invalid/ is configured, and was not tried");
    let (code, findings) = home.findings(&["wss://host.invalid/?token=secret", "--connect"]);
    assert_eq!(code, Some(1));
    find(&findings, "nobody answers at wss://host.invalid/");
    assert!(!format!("{findings:?}").contains("secret"));
}

#[test]
fn the_way_through_the_network_is_told_without_secrets() {
    let home = Home::new();
    let url = "wss://host.invalid/?token=secret";
    let (code, findings) =
        home.findings(&[url, "--proxy", "http://user:secret@p.test:3128", "--insecure-tls"]);
    assert_eq!(code, Some(0));
    find(
        &findings,
        "the way to wss://host.invalid/ leads through the proxy http://p.test:3128 (network.proxy)",
    );
    assert_eq!(find(&findings, "any certificate is taken for good")["level"], "warn");
    find(&findings, "network.proxy is http://p.test:3128 (--proxy)");
    assert!(!format!("{findings:?}").contains("secret"));

    home.write("config.yaml", "network:\n  ca_file: ca.pem\n  no_proxy: host.invalid\n", 0o600);
    let (code, findings) = home.findings(&[url]);
    assert_eq!(code, Some(1));
    find(&findings, "the way to wss://host.invalid/ is direct");
    let bad = find(&findings, "the CA file ca.pem cannot be used");
    assert_eq!((&bad["level"], &bad["about"]), (&"bad".into(), &"network".into()));
    std::fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../supervisor/tests/tls/root.pem"),
        home.path().join("ca.pem"),
    )
    .unwrap();
    let (code, findings) = home.findings(&[url]);
    assert_eq!(code, Some(0));
    find(&findings, "the certificates in ca.pem are trusted as well as the usual ones");
}

#[test]
fn a_file_with_secrets_that_others_can_read_is_warned_of() {
    let home = Home::new();
    let text = "browser:\n  headers: {X-Key: secret}\n";
    home.write("config.yaml", text, 0o644);
    let (_, findings) = home.findings(&[]);
    assert_eq!(find(&findings, "can be read by others")["next"], "chmod 600 config.yaml");
    home.write("config.yaml", text, 0o600);
    let (_, findings) = home.findings(&[]);
    assert!(!format!("{findings:?}").contains("can be read by others"));
    find(&findings, "browser.headers is {X-Key: (hidden)} (config.yaml:2)");
}

#[test]
fn the_bundle_has_what_helps_and_no_secrets() {
    let home = Home::new();
    home.write(
        "config.yaml",
        "browser: {cdp_url: 'wss://u:secret@host.invalid/x?token=secret', headers: {A: secret}}\n",
        0o600,
    );
    let (code, text) = home.doctor(&["--bundle", "report.json"]);
    assert_eq!(code, Some(0), "{text}");
    let path = home.path().join("report.json");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let text = std::fs::read_to_string(&path).unwrap();
    let bundle: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(bundle["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(bundle["settings"]["settings"]["browser.cdp_url"]["value"], "wss://host.invalid/x");
    let names: Vec<_> =
        bundle["environment_names"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(names.contains(&"HTTPS_PROXY"), "{names:?}");
    assert!(bundle["journal"].is_array() && bundle["findings"].is_array() && bundle["system"].is_string());
    assert!(!text.contains("secret") && !text.contains("proxy.test"), "{text}");
    assert!(!text.contains(home.path().to_str().unwrap()), "{text}");
    let (code, text) = home.doctor(&["--bundle", "report.json"]);
    assert_eq!(code, Some(1), "what is there is not written over: {text}");
}

/// These need a Chromium.
mod browser {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_browser_that_runs_is_asked_what_it_is_and_notices_nothing() {
        let browser = chromium_launcher::find().unwrap();
        let running = chromium_launcher::Launch::new(browser).start().await.unwrap();
        let home = Home::new();
        for url in [running.ws_url(), running.http_url(), running.profile().to_str().unwrap()] {
            let (code, findings) = home.findings(&[url]);
            assert_eq!(code, Some(0), "{findings:?}");
            let found = find(&findings, "which is configured");
            assert!(found["what"].as_str().unwrap().contains("Chrome/"), "{found}");
        }
        running.stop().await.unwrap();
    }
}

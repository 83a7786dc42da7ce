//! The settings as the built command has them. Precedence key by key is tested beside the code.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The command in a folder of its own, which is its home too.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command.env_clear().env("HOME", self.path()).env("PATH", std::env::var_os("PATH").unwrap());
        command
    }

    fn run(&self, args: &[&str]) -> (Output, String, String) {
        let output = self.command(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        (output, out, err)
    }

    fn settings(&self, args: &[&str]) -> Value {
        let (output, out, err) = self.run(&[&["config", "--json"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{err}");
        serde_json::from_str::<Value>(&out).unwrap()["settings"].take()
    }
}

#[test]
fn each_layer_is_over_the_one_before() {
    let home = Home::new();
    let key = "browser.dialog_timeout_s";
    let value = |args: &[&str]| home.settings(args)[key]["value"].clone();
    assert_eq!(value(&[]), 300);
    home.write(".config/cdp-supervisor/config.yaml", "browser: {dialog_timeout_s: 1}\n");
    assert_eq!(value(&[]), 1);
    home.write("config.yaml", "browser:\n  dialog_timeout_s: 2\n");
    assert_eq!(value(&[]), 2);
    home.write("named.yaml", "browser:\n  dialog_timeout_s: 3\n");
    assert_eq!(value(&["--config", "named.yaml"]), 3);
    assert_eq!(value(&["--config", "/dev/null"]), 300);
    let variable = "CDP_SUPERVISOR_BROWSER_DIALOG_TIMEOUT_S";
    let output = home.command(&["config"]).env(variable, "4").output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(
        shown
            .lines()
            .any(|line| line.contains("dialog_timeout_s: 4 ") && line.ends_with(&format!("# ${variable}"))),
        "{shown}"
    );
    assert_eq!(home.settings(&["--dialog-timeout", "5"])[key]["source"]["name"], "--dialog-timeout");
}

#[test]
fn a_browser_that_is_named_anywhere_is_taken() {
    let home = Home::new();
    let url = |command: &mut Command| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "nobody listens there");
        String::from_utf8(output.stderr).unwrap()
    };
    home.write("config.yaml", "browser: {cdp_url: 'http://user:secret@127.0.0.1:1/file'}\n");
    let said = url(&mut home.command(&["watch"]));
    assert!(said.contains("http://127.0.0.1:1/file") && !said.contains("secret"), "{said}");
    let said = url(home.command(&["watch"]).env("BROWSER_CDP_URL", "http://127.0.0.1:1/variable"));
    assert!(said.contains("http://127.0.0.1:1/variable"), "{said}");
    let mut flag = home.command(&["watch", "http://127.0.0.1:1/flag"]);
    let said = url(flag.env("BROWSER_CDP_URL", "http://127.0.0.1:1/variable"));
    assert!(said.contains("http://127.0.0.1:1/flag"), "{said}");
}

#[test]
fn what_is_wrong_is_told_with_file_line_and_key_and_nothing_is_started() {
    let home = Home::new();
    home.write("config.yaml", "browser:\n  dialog_polcy: x\n");
    for command in [&["config"][..], &["mcp"], &["watch", "http://127.0.0.1:1"]] {
        let (output, out, err) = home.run(command);
        assert_eq!((output.status.code(), out.as_str()), (Some(2), ""), "{err}");
        let wanted =
            "config.yaml:2: browser.dialog_polcy: there is no such key; did you mean browser.dialog_policy?";
        assert!(err.contains(wanted), "{err}");
    }
    let (output, _, err) = home.run(&["config", "--schema"]);
    assert_eq!(output.status.code(), Some(0), "the schema helps where the file is wrong: {err}");
    let (output, _, err) = home.run(&["config", "--config", "missing.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err.contains("missing.yaml") && err.contains("next: "), "{err}");
}

#[test]
fn the_schema_is_the_one_in_the_documents() {
    let (_, out, _) = Home::new().run(&["config", "--schema"]);
    let there = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/config.json");
    assert_eq!(out, std::fs::read_to_string(there).unwrap());
}

//! Each key in each layer: a later layer wins over an earlier one, and the source says which.

use clap::{Args as _, Command, FromArgMatches as _};
use serde_json::{Value, json};

use super::flags::{Flags, LogKeys, SocketKey, TaskKeys, url};
use super::keys::{Flag, KEYS, Key};
use super::*;

/// For each key three values: for the file as YAML, for the variable, for the flag. None is the default.
const SAMPLES: [(&str, [&str; 3]); 25] = [
    ("browser.cdp_url", ["http://f.test:1/", "http://e.test:1/", "http://c.test:1/"]),
    ("browser.dialog_policy", ["auto_dismiss", "auto_accept", "must_respond"]),
    ("browser.dialog_timeout_s", ["1", "2.5", "3"]),
    ("browser.bridge", ["on", "off", "auto"]),
    ("browser.bridge_host", ["f.invalid", "e.invalid", "c.invalid"]),
    ("browser.guard", ["true", "false", "true"]),
    ("browser.headers", ["{F: x}", "{E: x}", "C: x"]),
    ("network.proxy", ["http://u:p@f.test:1", "direct", "http://c.test:1"]),
    ("network.no_proxy", ["f.test", "e.test", "c.test"]),
    ("network.ca_file", ["/f", "/e", "/c"]),
    ("network.insecure_tls", ["true", "false", "true"]),
    ("timeouts.start_s", ["1", "2", "3"]),
    ("timeouts.call_s", ["1", "2", "3"]),
    ("reconnect.tries", ["1", "2", "3"]),
    ("reconnect.seconds", ["1", "2", "3"]),
    ("journal.enabled", ["false", "true", "false"]),
    ("journal.path", ["/f", "/e", "/c"]),
    ("journal.max_mb", ["8", "9", "10"]),
    ("journal.max_age_h", ["1", "2", "3"]),
    ("recording.path", ["/f", "/e", "/c"]),
    ("recording.max_mb", ["1", "2", "3"]),
    ("recording.redact", ["true", "false", "true"]),
    ("serve.socket", ["/f", "/e", "/c"]),
    ("log.level", ["off", "trace", "debug"]),
    ("log.format", ["json", "text", "json"]),
];

fn flags(words: &[String]) -> Vec<Layer> {
    let command =
        LogFlags::augment_args(SocketFlag::augment_args(TaskFlags::augment_args(Command::new("x"))));
    let matches = command.try_get_matches_from([&["x".to_owned()], words].concat()).unwrap();
    vec![
        TaskFlags::from_arg_matches(&matches).unwrap().layer(),
        SocketFlag::from_arg_matches(&matches).unwrap().layer(),
        LogFlags::from_arg_matches(&matches).unwrap().layer(),
    ]
}

type TaskFlags = Flags<TaskKeys>;
type SocketFlag = Flags<SocketKey>;
type LogFlags = Flags<LogKeys>;

fn flag(key: &Key, value: &str) -> Vec<Layer> {
    let name = key.flag_name();
    match key.flag {
        Flag::Url => vec![url(value)],
        Flag::On(_) | Flag::Off(_) => flags(&[name]),
        Flag::Value(..) | Flag::Header(_) => flags(&[name, value.to_owned()]),
    }
}

/// As it is shown.
fn shown(key: &Key, loaded: &Loaded) -> Value {
    let (section, name) = key.parts();
    serde_json::to_value(&loaded.settings).unwrap()[section][name].clone()
}

/// As this value would be shown.
fn expected(key: &Key, sample: &str) -> Value {
    match key.path {
        "browser.headers" => json!({&sample.trim_start_matches('{')[..1]: "(hidden)"}),
        "network.proxy" => json!(sample.replace("u:p@", "")),
        _ => key.value(sample).unwrap(),
    }
}

#[test]
fn each_layer_wins_over_the_ones_before_it_for_each_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.yaml");
    for (key, (name, [in_file, in_variable, in_flag])) in KEYS.iter().zip(SAMPLES) {
        assert_eq!(key.path, name, "a sample for each key, in their order");
        let (section, short) = key.parts();
        std::fs::write(&path, format!("# a comment\n{section}:\n  {short}: {in_file}\n")).unwrap();
        let variable = key.variable();
        let none = Around::default();
        let around = Around::with([(variable.as_str(), in_variable)]);
        let nothing = load(Some("/dev/null".as_ref()), vec![], &none).unwrap();
        assert_eq!(nothing.source(key).to_string(), "default");
        assert_eq!(shown(key, &nothing), shown(key, &Loaded::default()));

        let loaded = load(Some(&path), vec![], &none).unwrap();
        assert_eq!(shown(key, &loaded), expected(key, in_file), "{name} in a file");
        assert_eq!(loaded.source(key).to_string(), format!("{}:3", path.display()));

        let loaded = load(Some(&path), vec![], &around).unwrap();
        assert_eq!(shown(key, &loaded), expected(key, in_variable), "{name} in a variable");
        assert_eq!(loaded.source(key).to_string(), format!("${variable}"));

        let loaded = load(Some(&path), flag(key, in_flag), &around).unwrap();
        assert_eq!(shown(key, &loaded), expected(key, in_flag), "{name} as a flag");
        assert_eq!(loaded.source(key).to_string(), key.flag_name());
    }
}

#[test]
fn a_flag_that_is_not_given_hides_nothing() {
    let around =
        Around::with([("CDP_SUPERVISOR_BROWSER_GUARD", "true"), ("CDP_SUPERVISOR_JOURNAL_ENABLED", "false")]);
    let loaded = load(Some("/dev/null".as_ref()), flags(&[]), &around).unwrap();
    assert!(loaded.settings.browser.guard && !loaded.settings.journal.enabled);
}

#[test]
fn everything_that_is_wrong_is_told_at_once_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.yaml");
    let text = "browser:\n  dialog_policy: auto_acept\n  headers:\n    X-One: a\n    X-Two: 123456\n  guard: yes\nreconnect:\n  tries: -1\nlog:\n  level:\n";
    std::fs::write(&path, text).unwrap();
    let around = Around::with([("CDP_SUPERVISOR_TIMEOUTS_CALL_S", "soon")]);
    let error =
        load(Some(&path), flags(&["--start-timeout".into(), "0".into()]), &around).unwrap_err().to_string();
    let at = |line: u32, rest: &str| format!("\n  {}:{line}: {rest}", path.display());
    for wanted in [
        at(2, "browser.dialog_policy: unknown variant `auto_acept`, expected one of"),
        "; did you mean auto_accept?".into(),
        at(5, "browser.headers.X-Two: expected a text; put it in quotes"),
        at(6, "browser.guard: invalid type: string \"yes\", expected a boolean"),
        at(8, "reconnect.tries: expected a whole number from 0 to 10000, got -1"),
        at(10, "log.level: it has no value; give one, or leave the key out"),
        "\n  $CDP_SUPERVISOR_TIMEOUTS_CALL_S: timeouts.call_s: expected a number of seconds".into(),
        "\n  --start-timeout: timeouts.start_s: expected a number of seconds, more than 0".into(),
        "\n  next: ".into(),
    ] {
        assert!(error.contains(&wanted), "{wanted}\n in {error}");
    }
    assert!(!error.contains("123456"), "{error}");
}

#[test]
fn a_named_file_must_be_there_and_others_need_not() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("c.yaml");
    let error = load(Some(&missing), vec![], &Around::default()).unwrap_err().to_string();
    assert!(error.contains(&*missing.to_string_lossy()), "{error}");
    let config = folder.path().join("cdp-supervisor");
    let around = Around::with([("XDG_CONFIG_HOME", folder.path().to_str().unwrap())]);
    assert_eq!(load(None, vec![], &around).unwrap().file, None);
    std::fs::create_dir(&config).unwrap();
    std::fs::write(config.join("config.yaml"), "log: {level: trace}").unwrap();
    let loaded = load(None, vec![], &around).unwrap();
    assert_eq!((loaded.settings.log.level, loaded.file), (Level::Trace, Some(config.join("config.yaml"))));
}

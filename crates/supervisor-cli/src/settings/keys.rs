//! The table of all keys: what they are called in each layer, and how a text becomes their value.

use serde_json::Value;

use super::yaml;

/// Each variable begins so.
pub(crate) const PREFIX: &str = "CDP_SUPERVISOR_";

/// Another name of the variable of `browser.cdp_url`, which other tools know too. Ours wins over it.
pub(crate) const CDP_URL_VARIABLE: &str = "BROWSER_CDP_URL";

/// One key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Its path, as `section.name`.
    pub(crate) path: &'static str,
    pub(crate) flag: Flag,
    pub(crate) form: Form,
    pub(crate) part: Part,
}

/// How it is given on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
    /// `--name VALUE`, with what the value is called.
    Value(&'static str, &'static str),
    /// `--name` alone means true.
    On(&'static str),
    /// `--name` alone means false.
    Off(&'static str),
    /// `--name 'NAME: VALUE'`, any number of times.
    Header(&'static str),
    /// The URL that a subcommand takes without a name.
    Url,
}

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    /// One of these.
    Word(&'static [&'static str]),
    /// A file or folder: `~/` is the home folder; relative ones in a file start at that file's folder.
    Path,
    /// Whatever YAML makes of the text: a number, a truth value, a mapping.
    Yaml,
}

/// Which subcommands take it as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Those that supervise.
    Task,
    /// Those that connect to a browser, whatever for.
    Reach,
    /// `serve` and its clients.
    Socket,
    /// All.
    Log,
}

const POLICIES: Form = Form::Word(&["must_respond", "auto_dismiss", "auto_accept"]);
const BRIDGES: Form = Form::Word(&["auto", "on", "off"]);
const LEVELS: Form = Form::Word(&["off", "error", "warn", "info", "debug", "trace"]);
const FORMATS: Form = Form::Word(&["text", "json"]);

/// All keys, in the order in which they are shown.
pub(crate) static KEYS: [Key; 25] = [
    task("browser.cdp_url", Flag::Url, Form::Text),
    task("browser.dialog_policy", Flag::Value("policy", "WHO"), POLICIES),
    task("browser.dialog_timeout_s", Flag::Value("dialog-timeout", "SECONDS"), Form::Yaml),
    task("browser.bridge", Flag::Value("bridge", "WHEN"), BRIDGES),
    task("browser.bridge_host", Flag::Value("bridge-host", "HOST"), Form::Text),
    task("browser.guard", Flag::On("guard"), Form::Yaml),
    reach("browser.headers", Flag::Header("header"), Form::Yaml),
    reach("network.proxy", Flag::Value("proxy", "PROXY"), Form::Text),
    reach("network.no_proxy", Flag::Value("no-proxy", "HOSTS"), Form::Text),
    reach("network.ca_file", Flag::Value("ca-file", "FILE"), Form::Path),
    reach("network.insecure_tls", Flag::On("insecure-tls"), Form::Yaml),
    reach("timeouts.start_s", Flag::Value("start-timeout", "SECONDS"), Form::Yaml),
    task("timeouts.call_s", Flag::Value("call-timeout", "SECONDS"), Form::Yaml),
    task("reconnect.tries", Flag::Value("reconnect-tries", "COUNT"), Form::Yaml),
    task("reconnect.seconds", Flag::Value("reconnect-seconds", "SECONDS"), Form::Yaml),
    task("journal.enabled", Flag::Off("no-journal"), Form::Yaml),
    task("journal.path", Flag::Value("journal", "FOLDER"), Form::Path),
    task("journal.max_mb", Flag::Value("journal-max-mb", "MB"), Form::Yaml),
    task("journal.max_age_h", Flag::Value("journal-max-age", "HOURS"), Form::Yaml),
    task("recording.path", Flag::Value("recording", "PATH"), Form::Path),
    task("recording.max_mb", Flag::Value("recording-max-mb", "MB"), Form::Yaml),
    task("recording.redact", Flag::On("redact"), Form::Yaml),
    Key { path: "serve.socket", flag: Flag::Value("socket", "PATH"), form: Form::Path, part: Part::Socket },
    log("log.level", Flag::Value("log-level", "LEVEL"), LEVELS),
    log("log.format", Flag::Value("log-format", "FORMAT"), FORMATS),
];

const fn task(path: &'static str, flag: Flag, form: Form) -> Key {
    Key { path, flag, form, part: Part::Task }
}

const fn reach(path: &'static str, flag: Flag, form: Form) -> Key {
    Key { path, flag, form, part: Part::Reach }
}

const fn log(path: &'static str, flag: Flag, form: Form) -> Key {
    Key { path, flag, form, part: Part::Log }
}

/// The key of this path.
pub(crate) fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

impl Key {
    /// Its section and its name in there.
    pub(crate) fn parts(&self) -> (&'static str, &'static str) {
        self.path.split_once('.').unwrap_or((self.path, ""))
    }

    /// Its variable.
    pub(crate) fn variable(&self) -> String {
        format!("{PREFIX}{}", self.path.replace('.', "_").to_uppercase())
    }

    /// Its flag as it is written, if it has one.
    pub(crate) fn flag_name(&self) -> String {
        match self.flag {
            Flag::Value(name, _) | Flag::On(name) | Flag::Off(name) | Flag::Header(name) => {
                format!("--{name}")
            }
            Flag::Url => "URL".to_owned(),
        }
    }

    /// The value that a variable's or flag's text means. `~` is none, as in YAML.
    pub(crate) fn value(&self, text: &str) -> Result<Value, String> {
        match self.form {
            _ if text == "~" => Ok(Value::Null),
            Form::Text | Form::Path => Ok(text.into()),
            Form::Word(_) => Ok(text.replace('-', "_").into()),
            Form::Yaml => yaml::read(text).map(|node| node.value()).map_err(|error| error.why),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::settings::model::Settings;

    /// The paths that the settings have.
    fn paths() -> Vec<String> {
        let Value::Object(sections) = serde_json::to_value(Settings::default()).unwrap() else { panic!() };
        let keys = |(section, keys): (String, Value)| {
            let Value::Object(keys) = keys else { panic!("{section}") };
            keys.into_iter().map(move |(name, _)| format!("{section}.{name}"))
        };
        sections.into_iter().flat_map(keys).collect()
    }

    #[test]
    fn the_table_has_the_keys_of_the_settings() {
        let mut table: Vec<_> = KEYS.iter().map(|key| key.path.to_owned()).collect();
        let mut settings = paths();
        table.sort();
        settings.sort();
        assert_eq!(table, settings);
    }

    #[test]
    fn no_two_keys_share_a_flag() {
        let mut flags: Vec<_> = KEYS.iter().map(Key::flag_name).collect();
        flags.sort();
        flags.dedup();
        assert_eq!(flags.len(), KEYS.len());
    }

    #[test]
    fn words_are_those_that_the_settings_take() {
        for key in &KEYS {
            let Form::Word(words) = key.form else { continue };
            let (section, name) = key.parts();
            let read = |word: &str| serde_json::from_value::<Settings>(json!({section: {name: word}}));
            words.iter().for_each(|word| drop(read(word).unwrap()));
            let refused = read("no such word").unwrap_err().to_string();
            let expected = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>();
            let expected = [expected.join(", "), expected.join(" or ")];
            assert!(expected.iter().any(|expected| refused.contains(expected)), "{refused}");
        }
    }

    #[test]
    fn a_text_becomes_a_value() {
        let value = |path: &str, text: &str| find(path).unwrap().value(text).unwrap();
        assert_eq!(value("browser.bridge_host", "12"), "12");
        assert_eq!(value("browser.dialog_policy", "auto-accept"), "auto_accept");
        assert_eq!(value("browser.dialog_timeout_s", "12.5"), 12.5);
        assert_eq!(value("browser.guard", "true"), true);
        assert_eq!(value("browser.cdp_url", "~"), Value::Null);
        assert_eq!(value("browser.headers", "{A: b}"), json!({"A": "b"}));
    }

    #[test]
    fn variables_are_named_after_their_key() {
        assert_eq!(find("browser.cdp_url").unwrap().variable(), "CDP_SUPERVISOR_BROWSER_CDP_URL");
    }
}

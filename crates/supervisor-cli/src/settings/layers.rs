//! The layers, one over the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::around::Around;
use super::error::{Problem, SettingsError};
use super::given::{Given, Layer};
use super::keys::{KEYS, Key};
use super::model::Settings;
use super::similar::most_similar;
use super::source::Source;
use super::{environment, file};

/// The settings that hold, and where each comes from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loaded {
    pub(crate) settings: Settings,
    /// The file that was read.
    pub(crate) file: Option<PathBuf>,
    /// What the process found around itself.
    pub(crate) around: Around,
    /// What was wrong, where that stops nothing.
    pub(crate) wrong: Option<String>,
    /// Of the keys that somebody gave.
    sources: BTreeMap<&'static str, Source>,
}

impl Loaded {
    /// Where a key's value comes from.
    pub(crate) fn source(&self, key: &Key) -> Source {
        self.sources.get(key.path).cloned().unwrap_or(Source::Default)
    }

    /// Whether the file gives this key's value.
    pub(crate) fn file_gives(&self, path: &str) -> bool {
        matches!(self.sources.get(path), Some(Source::File { .. }))
    }

    /// Whether nobody gives it.
    pub(crate) fn is_default(&self, path: &str) -> bool {
        !self.sources.contains_key(path)
    }
}

/// Reads the file (the named one, or the one that is found) and the variables, and puts the flags over them.
///
/// # Errors
/// [`SettingsError`], with everything that is wrong.
pub(crate) fn load(
    named: Option<&Path>,
    flags: Vec<Layer>,
    around: &Around,
) -> Result<Loaded, SettingsError> {
    let (file, layer) = file::layer(named, around)?;
    let layers = [layer, environment::layer(around)].into_iter().chain(flags);
    let (mut given, mut problems) = (BTreeMap::new(), Vec::new());
    for layer in layers {
        problems.extend(layer.problems);
        given.extend(layer.given.into_iter().map(|given| (given.key.path, given)));
    }
    let settings = settled(&mut given, &mut problems);
    if !problems.is_empty() {
        return Err(SettingsError::Wrong(problems));
    }
    let sources = given.into_iter().map(|(path, given)| (path, given.source)).collect();
    Ok(Loaded { settings, file, around: around.clone(), wrong: None, sources })
}

/// The flags alone, for what works also where the settings are wrong.
pub(crate) fn without_layers(flags: Vec<Layer>, around: &Around, error: &SettingsError) -> Loaded {
    let mut given =
        flags.into_iter().flat_map(|layer| layer.given).map(|given| (given.key.path, given)).collect();
    let settings = settled(&mut given, &mut Vec::new());
    let sources = given.into_iter().map(|(path, given)| (path, given.source)).collect();
    Loaded { settings, file: None, around: around.clone(), wrong: Some(error.to_string()), sources }
}

/// Reads the values; one that is refused is told and left out, so that all of them are told.
fn settled(given: &mut BTreeMap<&'static str, Given>, problems: &mut Vec<Problem>) -> Settings {
    loop {
        let error = match serde_path_to_error::deserialize::<_, Settings>(tree(given)) {
            Ok(settings) => return settings,
            Err(error) => error,
        };
        let (path, why) = (error.path().to_string(), error.inner().to_string());
        let Some(wrong) = KEYS.iter().find(|key| is_in(&path, key)).and_then(|key| given.remove(key.path))
        else {
            // Unknown keys are told before, so each error is about a value that was given.
            problems.push(Problem { source: Source::Default, key: path, why });
            return Settings::default();
        };
        let inside = path.strip_prefix(wrong.key.path).and_then(|rest| rest.strip_prefix('.'));
        let why = explained(&wrong, why);
        problems.push(Problem { source: wrong.source_of(inside), key: path, why });
    }
}

fn is_in(path: &str, key: &Key) -> bool {
    path.strip_prefix(key.path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

fn explained(wrong: &Given, why: String) -> String {
    if wrong.value.is_null() {
        return "it has no value; give one, or leave the key out".to_owned();
    }
    let words = match wrong.key.form {
        super::keys::Form::Word(words) => words,
        _ => return why,
    };
    match wrong.value.as_str().and_then(|given| most_similar(given, words.iter().copied())) {
        Some(meant) => format!("{why}; did you mean {meant}?"),
        None => why,
    }
}

fn tree(given: &BTreeMap<&'static str, Given>) -> Value {
    let mut tree = Map::new();
    for given in given.values() {
        let (section, name) = given.key.parts();
        tree.entry(section).or_insert_with(|| Value::Object(Map::new()))[name] = given.value.clone();
    }
    Value::Object(tree)
}

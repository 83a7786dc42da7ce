//! The command line's part of the settings: the flags are made from the table of keys.

use std::marker::PhantomData;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use serde_json::{Map, Value};

use super::describe::description;
use super::given::{Given, Layer};
use super::keys::{self, Flag, Form, KEYS, Key, Part};
use super::source::Source;

/// The flags of one part of the keys.
#[derive(Debug)]
pub(crate) struct Flags<P> {
    layer: Layer,
    part: PhantomData<P>,
}

/// Which keys.
pub(crate) trait Which {
    const PARTS: &'static [Part];
    /// Whether they are taken at any place of the command line.
    const EVERYWHERE: bool = false;
}

/// What tasks are supervised with.
#[derive(Debug)]
pub(crate) struct TaskKeys;

/// How a browser is reached.
#[derive(Debug)]
pub(crate) struct ReachKeys;

/// Where the server is.
#[derive(Debug)]
pub(crate) struct SocketKey;

/// What is logged.
#[derive(Debug)]
pub(crate) struct LogKeys;

impl Which for TaskKeys {
    const PARTS: &'static [Part] = &[Part::Task, Part::Reach];
}

impl Which for ReachKeys {
    const PARTS: &'static [Part] = &[Part::Reach];
}

impl Which for SocketKey {
    const PARTS: &'static [Part] = &[Part::Socket];
}

impl Which for LogKeys {
    const PARTS: &'static [Part] = &[Part::Log];
    const EVERYWHERE: bool = true;
}

/// The keys of these parts.
fn keys_of<P: Which>() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(|key| P::PARTS.contains(&key.part))
}

/// What stands above them in a help text.
fn heading(part: Part) -> &'static str {
    match part {
        Part::Task | Part::Socket => "Settings",
        Part::Reach => "The way to the browser",
        Part::Log => "Log",
    }
}

impl<P> Flags<P> {
    /// What was given, for [`load`](super::load).
    pub(crate) fn layer(&self) -> Layer {
        self.layer.clone()
    }
}

/// The URL that a subcommand takes without a name.
pub(crate) fn url(text: &str) -> Layer {
    let mut layer = Layer::default();
    if let Some(key) = keys::find("browser.cdp_url") {
        layer.text(key, text, Source::Flag { name: key.flag_name() });
    }
    layer
}

/// Where `record` writes to.
pub(crate) fn output(path: &str) -> Layer {
    let mut layer = Layer::default();
    if let Some(key) = keys::find("recording.path") {
        layer.text(key, path, Source::Flag { name: "-o".to_owned() });
    }
    layer
}

impl<P: Which> Args for Flags<P> {
    fn augment_args(command: Command) -> Command {
        command.args(keys_of::<P>().filter_map(|key| Some(arg(key)?.global(P::EVERYWHERE))))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<P: Which> FromArgMatches for Flags<P> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut layer = Layer::default();
        keys_of::<P>().for_each(|key| take(key, matches, &mut layer));
        Ok(Self { layer, part: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// A flag for a key.
fn arg(key: &'static Key) -> Option<Arg> {
    let arg = match key.flag {
        Flag::Value(name, value) => Arg::new(key.path).long(name).value_name(value),
        Flag::On(name) | Flag::Off(name) => Arg::new(key.path).long(name).action(ArgAction::SetTrue),
        Flag::Header(name) => {
            Arg::new(key.path).long(name).value_name("NAME: VALUE").action(ArgAction::Append)
        }
        Flag::Url => return None,
    };
    let arg = match key.form {
        Form::Word(words) => {
            arg.value_parser(PossibleValuesParser::new(words.iter().map(|word| as_typed(word))))
        }
        _ => arg,
    };
    Some(arg.help(help(key)).help_heading(heading(key.part)))
}

/// Commands are written with hyphens; both are taken.
fn as_typed(word: &'static str) -> PossibleValue {
    let value = PossibleValue::new(word);
    if word.contains('_') { value.alias(word.replace('_', "-")) } else { value }
}

fn help(key: &Key) -> String {
    match key.flag {
        Flag::Off(_) => "Keep no journal".to_owned(),
        Flag::Header(_) => {
            "A header for the connection to the browser. Others see it in the list of processes: \
                            a file or a variable keeps it secret"
                .to_owned()
        }
        _ => description(key).trim_end_matches('.').to_owned(),
    }
}

fn take(key: &'static Key, matches: &ArgMatches, layer: &mut Layer) {
    let source = Source::Flag { name: key.flag_name() };
    match key.flag {
        Flag::Url => {}
        Flag::On(_) | Flag::Off(_) if matches.get_flag(key.path) => {
            let value = matches!(key.flag, Flag::On(_)).into();
            layer.given.push(Given::new(key, value, source));
        }
        Flag::On(_) | Flag::Off(_) => {}
        Flag::Header(_) => headers(key, matches, layer, source),
        Flag::Value(..) => {
            if let Some(text) = matches.get_one::<String>(key.path) {
                layer.text(key, text, source);
            }
        }
    }
}

fn headers(key: &'static Key, matches: &ArgMatches, layer: &mut Layer, source: Source) {
    let Some(given) = matches.get_many::<String>(key.path) else { return };
    let mut all = Map::new();
    for header in given {
        match header.split_once(':') {
            Some((name, value)) => drop(all.insert(name.to_owned(), value.trim().into())),
            None => return layer.problem(key.path, "expected NAME: VALUE", source),
        }
    }
    layer.given.push(Given::new(key, Value::Object(all), source));
}

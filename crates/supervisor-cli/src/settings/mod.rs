//! The settings: defaults, under a file, under variables, under flags.
//!
//! ```text
//! keys.rs      the table of all keys        model.rs   their types, defaults and texts
//! file.rs, environment.rs, flags.rs         the layers, each of which gives values for keys
//! layers.rs    puts them together           show.rs, describe.rs, docs.rs   tell of them
//! ```

mod around;
mod bounded;
mod bridge_host;
mod describe;
mod environment;
mod error;
mod file;
mod flags;
mod given;
mod hidden;
pub(crate) mod journal;
mod keys;
mod layers;
mod model;
mod proxy_choice;
mod show;
mod similar;
mod source;
mod start;
mod yaml;

#[cfg(test)]
mod docs;
#[cfg(test)]
mod precedence;

pub(crate) use around::Around;
pub(crate) use describe::json_schema;
pub(crate) use error::SettingsError;
pub(crate) use flags::{Flags, LogKeys, ReachKeys, SocketKey, TaskKeys, output, url};
pub(crate) use given::Layer;
pub(crate) use layers::{Loaded, load, without_layers};
pub(crate) use model::{Format, Level};
pub(crate) use show::{given, json as shown_as_json, yaml as shown_as_yaml};
pub(crate) use start::{Prepared, endpoint, network, start_options};

//! What several integration tests share: a stage with a real Chromium, local pages, and a supervised task.

// A test that cannot set up its stage can only fail, and at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

mod alone;
mod clients;
mod command;
mod dismissing_proxy;
mod faulty_wire;
mod frames;
mod idle_proxy;
mod invented_hosts;
mod mcp_wire;
mod node;
mod not_run;
mod own_port;
mod per_connection;
mod planted;
mod proxy;
mod raw_client;
mod refusing_proxy;
mod renderers;
pub mod scenes;
mod scripted_browser;
mod scripted_peer;
mod set_ups;
mod several;
mod stage;
mod talk;

pub use alone::{is_alone, resident};
pub use clients::{client_scripts, python_client, typescript_client};
pub use command::{build_folder, built_command};
pub use dismissing_proxy::DismissingProxy;
pub use faulty_wire::{FaultyWire, Plan};
pub use idle_proxy::IdleProxy;
pub use invented_hosts::InventedHosts;
pub use mcp_wire::{Exchange, McpWire};
pub use node::node_project;
pub use not_run::{NOT_RUN, not_run};
pub use per_connection::PerConnection;
pub use planted::{PLANTED, planted_in};
pub use proxy::Proxy;
pub use raw_client::RawClient;
pub use refusing_proxy::RefusingProxy;
pub use renderers::{Frozen, Renderers, without_spare_renderers};
pub use scripted_browser::{ScriptedBrowser, Winner};
pub use scripted_peer::{
    Manner, PAGE, PeerConnection, PeerSender, SESSION, ScriptedPeer, dialog_opening, frame, frame_head,
};
pub use set_ups::SetUps;
pub use stage::{Alone, Stage, browser, is_headless_shell, major_version, patience};
pub use talk::{Held, accept, accept_with, dismiss};

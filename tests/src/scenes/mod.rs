//! What `fixtures/transcripts` shows: short scenes between a page, a browser and a host. The recordings are made from this
//! list, and live and replay are compared over it.
//!
//! One more case is one more entry, a line in `docs/recordings.md`, and `cargo xtask transcripts NAME`.

mod agree;
mod backends;
mod bridged;
mod connections;
mod crashes;
mod dialogs;
mod documents;
mod frames;
mod hard;
mod leaving;
mod nobody;
mod pages;
mod play;
mod policies;
mod set;
mod shows;
mod table;

use std::path::PathBuf;
use std::pin::Pin;

use page_server::Site;
use supervisor::Options;

pub use agree::agree;
pub use play::{Played, play};
pub use set::Set;
pub use shows::{Shown, missing};
pub use table::{Row, table};

/// What happens in a scene.
pub(crate) type Acts = for<'a> fn(&'a mut Set) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// How the task reaches the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the browser's socket.
    Straight,
    /// By the socket of its first page.
    Page,
    /// Through a wire that can be cut.
    Wire,
    /// Through a backend that dismisses dialogs.
    Dismissing,
}

/// A scene. Its recording has its name.
#[derive(Debug, Clone, Copy)]
pub struct Scene {
    /// The name.
    pub name: &'static str,
    /// What the recording must keep showing.
    pub why: &'static str,
    /// Lines that it holds, in this order: see [`missing`].
    pub shows: &'static [&'static str],
    site: fn() -> Site,
    options: fn(&mut Options),
    way: Way,
    on_headless_shell: bool,
    before: Acts,
    acts: Acts,
}

impl Scene {
    fn new(name: &'static str, why: &'static str, shows: &'static [&'static str], acts: Acts) -> Self {
        Self {
            name,
            why,
            shows,
            site: set::plain,
            options: |_| (),
            way: Way::Straight,
            on_headless_shell: false,
            before: |_| Box::pin(async {}),
            acts,
        }
    }

    /// On these pages, instead of one that is nearly empty.
    fn on(self, site: fn() -> Site) -> Self {
        Self { site, ..self }
    }

    fn with(self, options: fn(&mut Options)) -> Self {
        Self { options, ..self }
    }

    fn by(self, way: Way) -> Self {
        Self { way, ..self }
    }

    fn on_headless_shell(self) -> Self {
        Self { on_headless_shell: true, ..self }
    }

    /// What happens before the task that is recorded comes.
    fn after(self, before: Acts) -> Self {
        Self { before, ..self }
    }

    /// Where its recording is kept.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        folder().join(format!("{}.cdp.jsonl", self.name))
    }

    /// The name of the browser that it needs, if not any Chromium.
    #[must_use]
    pub fn browser(&self) -> Option<&'static str> {
        self.on_headless_shell.then_some("chromium-headless-shell")
    }
}

/// The folder of the recordings.
#[must_use]
pub fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/transcripts"))
}

/// All scenes.
#[must_use]
pub fn scenes() -> Vec<Scene> {
    [
        dialogs::scenes(),
        documents::scenes(),
        leaving::scenes(),
        nobody::scenes(),
        policies::scenes(),
        frames::scenes(),
        pages::scenes(),
        crashes::scenes(),
        connections::scenes(),
        backends::scenes(),
        bridged::scenes(),
        hard::scenes(),
    ]
    .concat()
}

//! Where scenes play: a stage, and what else belongs to it.

use std::ops::{Deref, DerefMut};

use page_server::Site;
use serde_json::{Value, json};
use supervisor::{Code, FrameId, Snapshot};

use crate::dismissing_proxy::DismissingProxy;
use crate::proxy::Proxy;
use crate::raw_client::RawClient;
use crate::stage::Stage;

/// The pages of most scenes.
pub(super) fn plain() -> Site {
    Site::new()
        .page("/", "<title>page</title><p>page")
        .page("/next", "<title>next</title><p>next")
        .page("/leaf", "<title>leaf</title><p>leaf")
        .page("/far", "<title>far</title><iframe name=far src=http://b.test:{PORT}/leaf></iframe>")
}

/// A stage, the way to it, and another client of its browser.
pub struct Set {
    pub(super) stage: Stage,
    pub(super) wire: Option<Proxy>,
    pub(super) backend: Option<DismissingProxy>,
    pub(super) other: Option<RawClient>,
}

impl Deref for Set {
    type Target = Stage;

    fn deref(&self) -> &Stage {
        &self.stage
    }
}

impl DerefMut for Set {
    fn deref_mut(&mut self) -> &mut Stage {
        &mut self.stage
    }
}

impl Set {
    /// The wire of a scene that has one.
    pub(super) fn wire(&self) -> &Proxy {
        self.wire.as_ref().expect("a scene with a wire")
    }

    /// Another client, attached to the active page; and its session.
    pub(super) async fn other_client(&mut self) -> String {
        let client = RawClient::connect(self.browser.ws_url()).await;
        let session = client.attach(self.page().target_id.as_str()).await;
        self.other = Some(client);
        session
    }

    pub(super) fn other(&self) -> &RawClient {
        self.other.as_ref().expect("another client")
    }

    /// Has a frame do something in a moment. The dialog that it opens may be told before the reply that it was set going.
    pub(super) async fn start(&self, frame: Option<&FrameId>, what: &str) {
        let started = self.eval(frame, &format!("void setTimeout(() => {{ {what} }})")).await;
        assert!(!matches!(&started, Err(failure) if failure.code != Code::DialogOpened), "{started:?}");
    }

    /// Navigates to where a dialog may hold the navigation up.
    pub(super) async fn go(&self, url: &str) {
        let gone = self.call("Page.navigate", json!({ "url": url })).await;
        assert!(!matches!(&gone, Err(failure) if failure.code != Code::DialogOpened), "{gone:?}");
    }

    /// Waits until the active page shows this path.
    pub(super) async fn shows(&self, path: &str) {
        let is_it = |it: &Snapshot| it.frame_tree.top.as_ref().is_some_and(|top| top.url.ends_with(path));
        self.until(is_it).await;
    }

    /// One confirm in this frame, accepted; the frame gets the answer.
    pub(super) async fn confirms(&self, frame: Option<&FrameId>) {
        let held = self.ask(frame, "confirm('Sure?')").await;
        self.answer_to(held.dialog.id, crate::accept()).await.unwrap();
        assert_eq!(self.late(held.call).await, Value::Bool(true));
    }

    /// Adds an iframe to the active page.
    pub(super) async fn add_iframe(&self, name: &str, url: &str) {
        let (name, url) = (json!(name), json!(url));
        let add = format!(
            "void document.body.append(Object.assign(document.createElement('iframe'), {{ name: {name}, src: {url} }}))"
        );
        self.value(None, &add).await;
    }
}

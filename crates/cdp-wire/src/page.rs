//! The `Page` domain: frames, navigation and JavaScript dialogs.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::command::Command;
use crate::{Text, WireError, parse};

/// `Page.Frame`: a frame and the document that is in it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame<'a> {
    /// The frame.
    #[serde(borrow)]
    pub id: Text<'a>,
    /// Its parent. Absent for a main frame, and on older browsers for the root of an out-of-process iframe too.
    #[serde(borrow)]
    pub parent_id: Option<Text<'a>>,
    /// The loader of its document.
    #[serde(borrow, default)]
    pub loader_id: Text<'a>,
    /// The `name` attribute of its element, or `window.name`.
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    /// The document's URL without its fragment. Empty before the first commit.
    #[serde(borrow, default)]
    pub url: Text<'a>,
    /// The fragment with its `#`.
    #[serde(borrow)]
    pub url_fragment: Option<Text<'a>>,
    /// The document's origin; `://` or `null` for an opaque one.
    #[serde(borrow, default)]
    pub security_origin: Text<'a>,
    /// The URL that could not be loaded, when an error page is shown.
    #[serde(borrow)]
    pub unreachable_url: Option<Text<'a>>,
}

/// `Page.frameAttached`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameAttached<'a> {
    /// The new frame (or one that came back from another process).
    #[serde(borrow)]
    pub frame_id: Text<'a>,
    /// Its parent.
    #[serde(borrow)]
    pub parent_frame_id: Text<'a>,
}

/// `Page.frameNavigated`: a new document was committed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FrameNavigated<'a> {
    /// The frame with its new document.
    #[serde(borrow)]
    pub frame: Frame<'a>,
    /// How it came there.
    #[serde(default, rename = "type")]
    pub kind: NavigationType,
}

/// `Page.NavigationType`
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum NavigationType {
    /// An ordinary navigation (and what older browsers, which do not say, mean).
    #[default]
    Navigation,
    /// The document was restored from the back/forward cache.
    BackForwardCacheRestore,
    /// A kind that this crate does not know.
    #[serde(other)]
    Other,
}

/// `Page.frameDetached`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameDetached<'a> {
    /// The frame that left this session's process.
    #[serde(borrow)]
    pub frame_id: Text<'a>,
    /// Why.
    #[serde(default)]
    pub reason: DetachReason,
}

/// The `reason` of [`FrameDetached`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DetachReason {
    /// The frame was removed from its document.
    #[default]
    Remove,
    /// The frame lives on in another process.
    Swap,
    /// A reason that this crate does not know; treated as a removal.
    #[serde(other)]
    Other,
}

/// `Page.frameStartedNavigating`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameStartedNavigating<'a> {
    /// The frame that navigates.
    #[serde(borrow)]
    pub frame_id: Text<'a>,
    /// Where to.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// The loader that the new document will have.
    #[serde(borrow)]
    pub loader_id: Text<'a>,
    /// `reload`, `differentDocument`, `sameDocument`, `restore`, …
    #[serde(borrow, default)]
    pub navigation_type: Text<'a>,
}

impl FrameStartedNavigating<'_> {
    /// Whether the document stays and only its fragment or history state changes.
    #[must_use]
    pub fn is_same_document(&self) -> bool {
        matches!(self.navigation_type.as_str(), "sameDocument" | "historySameDocument")
    }
}

/// `Page.frameStartedLoading`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameStartedLoading<'a> {
    /// The frame that loads.
    #[serde(borrow)]
    pub frame_id: Text<'a>,
}

/// `Page.frameStoppedLoading`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameStoppedLoading<'a> {
    /// The frame that loads no longer.
    #[serde(borrow)]
    pub frame_id: Text<'a>,
}

/// `Page.navigatedWithinDocument`: the fragment or the history state changed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NavigatedWithinDocument<'a> {
    /// The frame.
    #[serde(borrow)]
    pub frame_id: Text<'a>,
    /// Its whole URL now.
    #[serde(borrow)]
    pub url: Text<'a>,
}

/// `Page.documentOpened`: `document.open()` took the document's place.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct DocumentOpened<'a> {
    /// The frame with its document.
    #[serde(borrow)]
    pub frame: Frame<'a>,
}

/// `Page.javascriptDialogOpening`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JavascriptDialogOpening<'a> {
    /// The URL of the frame that raised it.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// The frame that raised it; older browsers do not say.
    #[serde(borrow)]
    pub frame_id: Option<Text<'a>>,
    /// What the page says; cut by the browser at 10,240 UTF-16 units.
    #[serde(borrow)]
    pub message: Text<'a>,
    /// The kind of dialog.
    #[serde(rename = "type")]
    pub kind: DialogType,
    /// Whether the browser has a dialog of its own that stays open when nobody answers.
    #[serde(default)]
    pub has_browser_handler: bool,
    /// The default text of a prompt.
    #[serde(borrow)]
    pub default_prompt: Option<Text<'a>>,
}

/// `Page.DialogType`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DialogType {
    /// `alert()`
    Alert,
    /// `confirm()`
    Confirm,
    /// `prompt()`
    Prompt,
    /// The browser asks whether to leave the page.
    Beforeunload,
    /// A kind that this crate does not know.
    #[serde(other)]
    Other,
}

/// `Page.javascriptDialogClosed`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JavascriptDialogClosed<'a> {
    /// The frame that raised it; older browsers do not say.
    #[serde(borrow)]
    pub frame_id: Option<Text<'a>>,
    /// Whether it was accepted.
    pub result: bool,
    /// What was typed; the browser echoes it for a dismissed prompt too.
    #[serde(borrow, default)]
    pub user_input: Text<'a>,
}

/// `Page.enable`
#[derive(Debug, Clone, Serialize)]
pub struct Enable {}

impl Command for Enable {
    const METHOD: &'static str = "Page.enable";
}

/// `Page.getFrameTree`
#[derive(Debug, Clone, Serialize)]
pub struct GetFrameTree {}

impl Command for GetFrameTree {
    const METHOD: &'static str = "Page.getFrameTree";
}

/// The result of [`GetFrameTree`]: the frames of this session's process.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FrameTreeResult<'a> {
    #[serde(borrow)]
    frame_tree: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTreeNode<'a> {
    #[serde(borrow)]
    frame: Frame<'a>,
    #[serde(borrow, default)]
    child_frames: Vec<&'a RawValue>,
}

impl<'a> FrameTreeResult<'a> {
    /// The frames, parents before children, with each child's parent filled in.
    ///
    /// It walks the nesting without recursion: no page can nest deep enough to break it.
    ///
    /// # Errors
    /// [`WireError::Body`] when a node does not have the protocol's shape.
    pub fn frames(&self) -> Result<Vec<Frame<'a>>, WireError> {
        let mut frames = Vec::new();
        let mut waiting = vec![(None, self.frame_tree)];
        while let Some((parent, json)) = waiting.pop() {
            let mut node: FrameTreeNode<'a> = parse("Page.FrameTree", json.get())?;
            node.frame.parent_id = node.frame.parent_id.or(parent);
            let id = node.frame.id.clone();
            waiting.extend(node.child_frames.into_iter().rev().map(|child| (Some(id.clone()), child)));
            frames.push(node.frame);
        }
        Ok(frames)
    }
}

/// `Page.handleJavaScriptDialog`: answers the dialog that is open on a page's session.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HandleJavaScriptDialog {
    /// Accept or dismiss.
    pub accept: bool,
    /// The text for a prompt. Without it an accepted prompt returns `""`, not its default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_text: Option<String>,
}

impl Command for HandleJavaScriptDialog {
    const METHOD: &'static str = "Page.handleJavaScriptDialog";
}

/// `Page.addScriptToEvaluateOnNewDocument`
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddScriptToEvaluateOnNewDocument {
    /// The script, run in each new document before the page's own.
    pub source: String,
    /// Run it in the loaded documents too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub run_immediately: bool,
}

impl Command for AddScriptToEvaluateOnNewDocument {
    const METHOD: &'static str = "Page.addScriptToEvaluateOnNewDocument";
}

/// The result of `Page.addScriptToEvaluateOnNewDocument`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ScriptAdded<'a> {
    /// By what it is removed.
    #[serde(borrow)]
    pub identifier: Text<'a>,
}

/// `Page.removeScriptToEvaluateOnNewDocument`: new documents are without it.
#[derive(Debug, Clone, Serialize)]
pub struct RemoveScriptToEvaluateOnNewDocument {
    /// What adding it gave.
    pub identifier: String,
}

impl Command for RemoveScriptToEvaluateOnNewDocument {
    const METHOD: &'static str = "Page.removeScriptToEvaluateOnNewDocument";
}

/// `Page.navigate`
#[derive(Debug, Clone, Serialize)]
pub struct Navigate {
    /// Where to.
    pub url: String,
}

impl Command for Navigate {
    const METHOD: &'static str = "Page.navigate";
}

/// `Page.reload`
#[derive(Debug, Clone, Serialize)]
pub struct Reload {}

impl Command for Reload {
    const METHOD: &'static str = "Page.reload";
}

/// `Page.close`: asks the page to close; its `beforeunload` may object.
#[derive(Debug, Clone, Serialize)]
pub struct Close {}

impl Command for Close {
    const METHOD: &'static str = "Page.close";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_tree_is_walked_parents_first_however_deep_it_is() {
        let depth = 400;
        let mut json = String::from(r#"{"frame":{"id":"F0"}}"#);
        for n in 1..depth {
            json = format!(r#"{{"frame":{{"id":"F{n}"}},"childFrames":[{json}]}}"#);
        }
        let json = format!(r#"{{"frameTree":{json}}}"#);
        let frames = parse::<FrameTreeResult<'_>>("test", &json).unwrap().frames().unwrap();
        assert_eq!(frames.len(), depth);
        assert_eq!(frames[0].parent_id, None);
        assert_eq!(frames[1].parent_id, Some(frames[0].id.clone()));
    }

    #[test]
    fn an_old_browsers_dialog_has_no_frame() {
        let json = r#"{"url":"http://a/","message":"m","type":"confirm","hasBrowserHandler":false}"#;
        let opening: JavascriptDialogOpening<'_> = parse("test", json).unwrap();
        assert_eq!((opening.frame_id, opening.kind), (None, DialogType::Confirm));
    }
}

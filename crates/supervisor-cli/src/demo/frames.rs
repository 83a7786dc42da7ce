//! The part of the demo about cross-origin iframes.

use serde_json::Value;
use supervisor::{Action, FrameId, FrameView, Snapshot, TargetId};

use crate::teller::short;

use super::stage::{Mismatch, Outcome, Stage, equal};

/// What the other steps need to know about a.test > b.test > c.test.
pub(super) struct Frames {
    page: TargetId,
    deepest: FrameId,
}

/// Shows the tree, and evaluates in the deepest frame.
pub(super) async fn tree(stage: &Stage) -> Outcome<Frames> {
    stage.open("/frames").await?;
    let snapshot =
        stage.until("three frames, the inner two as OOPIFs", |snapshot| nested(snapshot).is_some()).await?;
    let Some([top, middle, deepest]) = nested(&snapshot) else {
        return Err(Mismatch::new("three frames", format!("{:?}", snapshot.frame_tree)));
    };
    for (depth, frame) in [top, middle, deepest].into_iter().enumerate() {
        stage.narrator.good(&format!("{}{}", "  ".repeat(depth), described(frame)))?;
    }
    let href = stage.eval(Some(&deepest.frame_id), "location.href").await?;
    stage.check("`location.href` in the deepest", deepest.url.clone(), &href)?;
    Ok(Frames { page: top.target_id.clone(), deepest: deepest.frame_id.clone() })
}

/// Top, middle and deepest, when each is in its place and shows its page.
fn nested(snapshot: &Snapshot) -> Option<[&FrameView; 3]> {
    let top = snapshot.frame_tree.top.as_ref()?;
    let child_of = |parent: &FrameView, path: &str| {
        let is_it = |frame: &&FrameView| {
            frame.parent_frame_id.as_ref() == Some(&parent.frame_id)
                && frame.is_oopif
                && frame.session_id.is_some()
                && frame.url.ends_with(path)
        };
        snapshot.frame_tree.children.iter().find(is_it)
    };
    let middle = child_of(top, "/frame-b")?;
    let deepest = child_of(middle, "/frame-c")?;
    Some([top, middle, deepest])
}

fn described(frame: &FrameView) -> String {
    let parent = frame.parent_frame_id.as_ref().map_or("none", |parent| short(parent.as_str()));
    let session = frame.session_id.as_ref().map_or("the page's", |session| short(session.as_str()));
    format!(
        "{} frame {} parent {parent} is_oopif {} session {session}",
        frame.url,
        short(frame.frame_id.as_str()),
        frame.is_oopif,
    )
}

/// A question from the deepest frame: it is pending on the page, names the frame, and the answer gets there.
pub(super) async fn question(stage: &Stage, frames: &Frames) -> Outcome<()> {
    let deepest = Some(&frames.deepest);
    stage.eval(deepest, super::stage::LOADED).await?;
    let dialog = stage.raise(deepest).await?;
    equal("the dialog to name the deepest frame", &Some(frames.deepest.clone()), &dialog.frame_id)?;
    equal("the dialog to be pending on the first page", &frames.page, &dialog.target_id)?;
    stage.narrator.good("it is pending with the id of that frame, on the page that holds it")?;
    stage.respond(&dialog, Action::Accept { prompt_text: None }).await?;
    let got: Value = stage.answer_in(deepest).await?;
    stage.check("the deepest frame got", true, &got)
}

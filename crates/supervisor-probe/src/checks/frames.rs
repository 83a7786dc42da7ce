//! Frames: the tree, and calls into them.

use serde_json::{Value, json};
use supervisor::{Action, FrameId, FrameView, Place, TargetId};

use crate::asking::{self, Question, Raised};
use crate::checks::dialogs::names;
use crate::error::Trouble;
use crate::hand::Opened;
use crate::notes::Notes;
use crate::pages::{self, HOST, SECOND, THIRD};
use crate::report::{Value as Answer, Verdict};
use crate::row::Row;
use crate::stage::Stage;

/// The page's frames: one of its own site, one of another, and one of a third inside of that.
struct Frames {
    top: FrameId,
    same: FrameView,
    other: FrameView,
    nested: FrameView,
}

pub(crate) async fn frames(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    let page = stage.open("/frames").await?;
    let Some(frames) = all(stage, &page).await? else {
        notes.note(Row::FrameTree, Verdict::no("frame_missing"));
        return Ok(());
    };
    notes.note(Row::FrameTree, in_their_places(&frames));
    let here = address(stage, &frames.same).await?;
    notes.note(Row::SameProcessEval, here);
    let isolated = isolated(&frames);
    notes.note(Row::Oopif, isolated.clone());
    let calls = match isolated.is_yes() {
        true => calls(stage, &frames).await?,
        false => isolated,
    };
    notes.note(Row::OopifCalls, calls);
    Ok(())
}

async fn all(stage: &Stage<'_>, page: &Opened) -> Result<Option<Frames>, Trouble> {
    let top = stage.main_frame(&page.target).await?;
    let (Some(same), Some(other)) = (at(stage, page, HOST).await?, at(stage, page, SECOND).await?) else {
        return Ok(None);
    };
    if other.is_oopif {
        // From now on somebody answers for the frames inside of it.
        stage.hand.serves(&TargetId::from(&other.frame_id)).await;
    }
    let add = format!(
        "const frame = document.createElement('iframe'); frame.src = '{}'; document.body.append(frame)",
        pages::url(THIRD, "/inner")
    );
    stage.eval(&other.frame_id, &format!("{{ {add} }}; 1")).await?;
    let nested = at(stage, page, THIRD).await?;
    Ok(nested.map(|nested| Frames { top, same, other, nested }))
}

/// The frame that shows a host's inner document.
async fn at(stage: &Stage<'_>, page: &Opened, host: &str) -> Result<Option<FrameView>, Trouble> {
    let url = pages::url(host, "/inner");
    stage.frame(page, |frame| frame.url == url).await
}

fn in_their_places(frames: &Frames) -> Verdict {
    let Frames { top, same, other, nested } = frames;
    let below = |child: &FrameView, parent: &FrameId| child.parent_frame_id.as_ref() == Some(parent);
    match below(same, top) && below(other, top) && below(nested, &other.frame_id) {
        true => Verdict::yes(),
        false => Verdict::no("wrong_parent"),
    }
}

fn isolated(frames: &Frames) -> Verdict {
    match frames.other.is_oopif && frames.nested.is_oopif {
        true => Verdict::yes(),
        false => Verdict::no("same_process")
            .with("frames of other sites live in the page's process, where eval reaches them"),
    }
}

async fn calls(stage: &Stage<'_>, frames: &Frames) -> Result<Verdict, Trouble> {
    for frame in [&frames.other, &frames.nested] {
        let evaluated = address(stage, frame).await?;
        if evaluated.value != Answer::Yes {
            return Ok(evaluated);
        }
        let params = json!({ "expression": "location.href", "returnByValue": true }).to_string();
        let place = Place::Frame(frame.frame_id.clone());
        let called = stage.task.call(place, "Runtime.evaluate", params, Some(stage.patience())).await?;
        let called: Value = called.result.parse()?;
        let called = asking::got_as_expected(&called["result"]["value"], &json!(frame.url));
        if called.value != Answer::Yes {
            return Ok(called);
        }
    }
    Ok(Verdict::yes())
}

/// Whether an evaluation runs in this frame and no other.
async fn address(stage: &Stage<'_>, frame: &FrameView) -> Result<Verdict, Trouble> {
    let got = stage.eval(&frame.frame_id, "location.href").await?;
    Ok(asking::got_as_expected(&got, &json!(frame.url)))
}

/// The dialog of a frame in another process comes on its page, and its answer goes there.
pub(crate) async fn dialog(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    let page = stage.open("/frames").await?;
    let verdict = match at(stage, &page, SECOND).await? {
        None => Verdict::unknown("frame_missing"),
        Some(frame) if !frame.is_oopif => Verdict::unknown("same_process"),
        Some(frame) => asked(stage, &page, &frame.frame_id).await?,
    };
    notes.note(Row::OopifDialog, verdict);
    Ok(())
}

async fn asked(stage: &Stage<'_>, page: &Opened, frame: &FrameId) -> Result<Verdict, Trouble> {
    let question = question();
    match asking::raise(stage, page, frame, &question, stage.request.hold).await? {
        Raised::NotSeen => Ok(Verdict::no("not_seen")),
        Raised::Closed(dialog) => Ok(asking::closed(&dialog)),
        Raised::Open(dialog) => {
            let answered = asking::answer(stage, frame, &dialog, &question).await?;
            let named = names(&dialog, frame);
            Ok(if answered.is_yes() && named.reason == Some("wrong_frame") { named } else { answered })
        }
    }
}

/// What a frame asks.
pub(super) fn question() -> Question {
    Question {
        call: "confirm('probe: from a frame')",
        message: "probe: from a frame",
        action: Action::Accept { prompt_text: None },
        expected: json!(true),
    }
}

/// A frame in another process, on a page that was just opened.
pub(super) async fn other_process(stage: &Stage<'_>, page: &Opened) -> Result<Option<FrameId>, Trouble> {
    let frame = at(stage, page, SECOND).await?;
    Ok(frame.filter(|frame| frame.is_oopif).map(|frame| frame.frame_id))
}

//! Closing the probe's pages, without ending the browser.
//!
//! New headless browsers crash when a page, or its browser context, is closed while the dialog of a frame in another process
//! is open and somebody listens to it (measured on Chromium 156). So dialogs are answered before; a page that keeps one
//! nevertheless is led away first, which closes the dialog and not the browser.

use supervisor::{Action, Code, DialogChoice, DialogType, DialogView, EvalOptions, Supervisor, Task};
use tokio::time::timeout;

use crate::hand::{Hand, Opened};
use crate::limits::CLEAN_STEP;
use crate::pages::HUSH;
use crate::stage::TASK;

/// Closes a page, or, where it is kept, only leaves its document.
pub(crate) async fn leave(hand: &Hand, task: &Task, page: &Opened, is_kept: bool) {
    let is_quiet = timeout(CLEAN_STEP, settle(task, page)).await.unwrap_or(false);
    if is_kept || !is_quiet {
        hand.blank(page).await;
    }
    if !is_kept {
        hand.close(page).await;
    }
}

/// Closes everything, at the end or after a signal. Gives what is left, in words.
pub(crate) async fn everything(hand: &Hand, supervisor: &Supervisor) -> Vec<String> {
    hand.rests().await;
    if let Some(task) = supervisor.get(TASK).await {
        for page in hand.pages() {
            leave(hand, &task, &page, false).await;
        }
    }
    supervisor.stop_all().await;
    // Nobody listens to what is left now.
    let _ = timeout(CLEAN_STEP, hand.line().release()).await;
    hand.clear().await
}

/// Answers a page's dialogs and sees to it that no other opens; says whether that worked. A page may be just about to ask, or
/// have asked and its dialog is not told yet: only its own process knows, so each of its frames is asked.
async fn settle(task: &Task, page: &Opened) -> bool {
    loop {
        while let Some(dialog) = pending(task, page) {
            if !is_answered(task, &dialog).await {
                return false;
            }
        }
        match hushed(task, page).await {
            Hushed::Yes => return true,
            Hushed::NotYet => {}
            Hushed::Never => return false,
        }
    }
}

fn pending(task: &Task, page: &Opened) -> Option<DialogView> {
    let snapshot = task.snapshot();
    snapshot.pending_dialogs.iter().find(|dialog| dialog.target_id == page.target).cloned()
}

async fn is_answered(task: &Task, dialog: &DialogView) -> bool {
    let choice = DialogChoice { dialog_id: Some(dialog.id), target_id: None };
    let action = match dialog.kind {
        DialogType::Beforeunload => Action::Accept { prompt_text: None },
        _ => Action::Dismiss,
    };
    let answered = task.respond(choice, action).await;
    answered.is_ok() || answered.is_err_and(|failure| failure.code == Code::AlreadyClosed)
}

enum Hushed {
    Yes,
    /// A dialog was faster.
    NotYet,
    /// A frame does not listen.
    Never,
}

async fn hushed(task: &Task, page: &Opened) -> Hushed {
    for frame in task.frames(Some(&page.target)).unwrap_or_default() {
        match task.eval(Some(frame.frame_id), HUSH, EvalOptions::default()).await {
            Err(failure) if is_about_a_dialog(failure.code) => return Hushed::NotYet,
            Err(failure) if !is_about_an_end(failure.code) => return Hushed::Never,
            _ => {}
        }
    }
    Hushed::Yes
}

fn is_about_a_dialog(code: Code) -> bool {
    matches!(code, Code::DialogOpened | Code::BlockedByDialog)
}

/// A frame that goes, or whose document does, takes its script along.
fn is_about_an_end(code: Code) -> bool {
    matches!(
        code,
        Code::FrameGone | Code::FrameNotFound | Code::PageGone | Code::Navigated | Code::SessionClosed
    )
}

//! Closing the probe's pages, without ending the browser.
//!
//! New headless browsers crash when a page, or its browser context, is closed while the dialog of a frame in another process
//! is open and somebody listens to it (measured on Chromium 156). So dialogs are answered before; a page that keeps one
//! nevertheless is led away first, which closes the dialog and not the browser.

use supervisor::{Action, Code, DialogChoice, DialogType, DialogView, Supervisor, Task};
use tokio::time::timeout;

use crate::hand::{Hand, Opened};
use crate::limits::CLEAN_STEP;
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

/// Answers a page's dialogs; says whether none is left.
async fn settle(task: &Task, page: &Opened) -> bool {
    while let Some(dialog) = pending(task, page) {
        let choice = DialogChoice { dialog_id: Some(dialog.id), target_id: None };
        let action = match dialog.kind {
            DialogType::Beforeunload => Action::Accept { prompt_text: None },
            _ => Action::Dismiss,
        };
        let answered = task.respond(choice, action).await;
        if answered.is_err_and(|failure| failure.code != Code::AlreadyClosed) {
            return false;
        }
    }
    true
}

fn pending(task: &Task, page: &Opened) -> Option<DialogView> {
    let snapshot = task.snapshot();
    snapshot.pending_dialogs.iter().find(|dialog| dialog.target_id == page.target).cloned()
}

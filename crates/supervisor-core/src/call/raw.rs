//! What a host may send raw: everything but what would break supervision or kill the browser.

use crate::dialog::Unanswerable;
use crate::page::Page;

/// What is done with a host's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is sent.
    Pass,
    /// It is an answer to a dialog and takes that way.
    Answer,
    /// It is refused; the text says why and what to use instead.
    Refuse(&'static str),
}

pub(crate) fn verdict(method: &str) -> Verdict {
    match method {
        "Page.handleJavaScriptDialog" => Verdict::Answer,
        "Page.disable" => {
            Verdict::Refuse("it would blind the supervisor and orphan open dialogs; there is no need for it")
        }
        "Runtime.disable" => {
            Verdict::Refuse("the supervisor needs execution contexts to route calls; there is no need for it")
        }
        "Log.disable" | "Inspector.disable" => {
            Verdict::Refuse("the supervisor listens to it; there is no need for it")
        }
        "Target.setAutoAttach" | "Target.autoAttachRelated" => {
            Verdict::Refuse("the supervisor attaches to every page and frame; read them from the snapshot")
        }
        "Target.setDiscoverTargets" => {
            Verdict::Refuse("the supervisor follows targets; read them from the snapshot's `pages`")
        }
        "Target.attachToTarget" | "Target.attachToBrowserTarget" | "Target.createSession" => Verdict::Refuse(
            "a second session would report everything twice; address the page or frame by its id instead",
        ),
        "Target.detachFromTarget" => {
            Verdict::Refuse("it would end supervision of that target; disconnect the task instead")
        }
        "Target.sendMessageToTarget" => {
            Verdict::Refuse("sessions are flat; address the page or frame by its id instead")
        }
        "Browser.close" | "Browser.crash" | "Browser.crashGpuProcess" => Verdict::Refuse(
            "it would end the browser for everybody who uses it; whoever launched it should close it",
        ),
        _ => Verdict::Pass,
    }
}

/// Whether this command, sent to a page in this state, would kill the browser.
pub(crate) fn kills(method: &str, page: &Page) -> Option<&'static str> {
    let why = page.blocked.as_ref()?.why;
    let closes = matches!(method, "Page.close" | "Target.closeTarget");
    let leaves = matches!(method, "Page.navigate" | "Page.reload" | "Page.navigateToHistoryEntry");
    match why {
        Unanswerable::Overlap if closes => Some(
            "two dialogs overlapped on this page: closing it now crashes the whole browser; `reload` or `navigate` frees it",
        ),
        Unanswerable::FrameRemoved if closes || leaves => Some(
            "an iframe was removed while its dialog was open: any navigation or closing of this page now crashes the whole \
             browser; leave the page alone and use another one",
        ),
        _ => None,
    }
}

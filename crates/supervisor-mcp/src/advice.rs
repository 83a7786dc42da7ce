//! What an agent can do about a failure, in terms of its tools. The supervisor's own message says what happened.

use supervisor::{Code, Failure};

/// The failure as an agent reads it.
pub(crate) fn with_next_step(mut failure: Failure) -> Failure {
    if let Some(step) = next_step(&failure) {
        let message = failure.message.trim_end_matches(['.', ' ']);
        failure.message = format!("{message}. Next: {step}");
    }
    failure
}

fn next_step(failure: &Failure) -> Option<String> {
    let dialog = failure.detail.dialog.as_ref();
    let answer = || {
        match dialog {
        Some(dialog) if dialog.answerable => format!("answer it by browser_dialog with dialog_id {}", dialog.id),
        _ => "look in browser_snapshot at the page's `blocked`, and use browser_recover with a remedy named there".into(),
    }
    };
    Some(match failure.code {
        Code::BlockedByDialog => format!("{}, then make this call again.", answer()),
        Code::DialogOpened => {
            let call = failure.detail.call_id.map(|id| format!(" with call_id {id}")).unwrap_or_default();
            format!("{}, then fetch the result of this call by browser_result{call}.", answer())
        }
        Code::Unanswerable => format!("{}.", answer()),
        Code::AmbiguousDialog => "call browser_dialog with the dialog_id of one of the candidates.".into(),
        Code::NotConnected => "call browser_connect.".into(),
        Code::Disconnected => {
            "look at `status` in browser_snapshot; when it is `connected` again, see what took effect before you repeat a call."
                .into()
        }
        Code::NotAnOopif => "use browser_eval with this frame_id.".into(),
        Code::FrameNotFound | Code::FrameGone => "take a frame_id from browser_frames.".into(),
        Code::PageGone | Code::UnknownDialog | Code::TargetUnresponsive => "look at browser_snapshot.".into(),
        Code::TargetCrashed => "reload the page by browser_cdp with method Page.reload, or navigate it.".into(),
        Code::NoDialog => "look at `recent_dialogs` in browser_snapshot for what was closed, and by whom.".into(),
        Code::Timeout => "look in browser_snapshot at whether its page is blocked or unresponsive; allow the call more time if it needs more.".into(),
        Code::Navigated => "make this call again, for the document that is there now.".into(),
        Code::CdpError => "look at the name of the method and at its parameters.".into(),
        Code::UnknownCall => "take the call_id of a `dialog_opened` error; its result is kept for ten minutes and handed out once.".into(),
        Code::AlreadyClosed => "look at `recent_dialogs` in browser_snapshot for how it ended.".into(),
        Code::StartFailed => "see that the browser runs and that cdp_url leads to it, then call browser_connect again.".into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialog_that_holds_a_call_is_followed_to_its_late_result() {
        let failure = Failure::new(Code::DialogOpened, "d-1 opened while it ran.")
            .with(|detail| detail.call_id = Some("c-7".parse().unwrap()));
        let message = with_next_step(failure).message;
        assert!(message.starts_with("d-1 opened while it ran. Next: "), "{message}");
        assert!(message.contains("browser_result with call_id c-7"), "{message}");
    }

    #[test]
    fn what_explains_itself_is_left_alone() {
        let failure = Failure::new(Code::JsException, "the expression threw: Error: x");
        assert_eq!(with_next_step(failure.clone()), failure);
    }
}

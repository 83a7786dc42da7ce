//! What an agent can do about a failure, in terms of its tools. The supervisor's own message says what happened.

use supervisor::{Code, Failure};

/// The failure as an agent reads it.
pub(crate) fn with_next_step(mut failure: Failure) -> Failure {
    if let Some(step) = next_step(&failure) {
        let message = failure.message.trim_end_matches(['.', ' ']);
        // The last line of a stack stays as it is.
        let end = if message.contains('\n') { "\n" } else { ". " };
        failure.message = format!("{message}{end}Next: {step}");
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
        Code::JsException => thrown_at(failure),
        Code::Refused => "do what the message names instead; nothing was sent, and everything is as it was.".into(),
        Code::SessionClosed => "make this call again; it goes over the session that is there now.".into(),
        Code::InvalidArgument => "correct what the message names; the tool's input schema says what is taken.".into(),
        Code::UnsupportedBackend => "call browser_connect with the cdp_url of a browser, or do without dialogs and frames here.".into(),
        _ => return None,
    })
}

/// People count lines and columns from 1.
fn thrown_at(failure: &Failure) -> String {
    let place = failure.detail.exception.as_ref().filter(|thrown| thrown.line >= 0 && thrown.column >= 0);
    let place =
        place.map(|it| format!(", at line {}, column {}", it.line + 1, it.column + 1)).unwrap_or_default();
    format!("correct the expression{place}, or see by browser_frames whether it is meant for another frame.")
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
    fn what_was_thrown_is_found_in_the_expression() {
        let thrown = supervisor::supervisor_core::JsException { text: "Error: x".into(), line: 0, column: 5 };
        let failure =
            Failure::new(Code::JsException, "the expression threw: Error: x\n    at <anonymous>:1:6")
                .with(|detail| detail.exception = Some(thrown));
        let message = with_next_step(failure).message;
        assert!(message.contains(":1:6\nNext: correct the expression, at line 1, column 6"), "{message}");
    }

    #[test]
    fn every_code_has_a_next_step() {
        let schema = crate::schema::written::<Code>();
        let codes = schema["oneOf"].as_array().unwrap();
        assert!(codes.len() > 20, "{codes:?}");
        for code in codes {
            let code: Code = serde_json::from_value(code["const"].clone()).unwrap();
            let message = with_next_step(Failure::new(code, "it failed")).message;
            assert!(message.starts_with("it failed. Next: ") && message.ends_with('.'), "{code}: {message}");
        }
    }
}

//! What a tool refused or failed at, for people: with the commands that come next.

use serde_json::Value;
use supervisor::{Code, DialogView, Failure};

use super::show;
use crate::error::CliError;

/// The failure of an answer.
pub(super) fn read(mut content: Value, task: &str) -> CliError {
    match super::read::<Failure>(content["error"].take()) {
        Ok(failure) => CliError::Tool(text(&failure, task)),
        Err(error) => error,
    }
}

fn text(failure: &Failure, task: &str) -> String {
    // What the server says comes next is in words for agents. It is the end: a page may say the same words before.
    let (what, theirs) = match failure.message.rsplit_once("Next: ") {
        Some((what, next)) => (what.trim_end(), Some(next.replace("browser_", "cdp-supervisor "))),
        None => (failure.message.as_str(), None),
    };
    let mut text = format!("{}: {}", failure.code, in_words_of_the_shell(what, failure.code));
    let dialogs = failure.detail.dialog.iter().chain(&failure.detail.candidates);
    dialogs.for_each(|dialog| text += &format!("\n  dialog: {}", show::asks(dialog)));
    if let Some(next) = next(failure, task).or(theirs) {
        text += &format!("\n  next: {next}");
    }
    text
}

/// The tools' arguments, and what they are here.
const ARGUMENTS: [(&str, &str); 12] = [
    ("`timeout_s`", "--timeout"),
    ("`dialog_timeout_s`", "--dialog-timeout"),
    ("`wait_s`", "--wait"),
    ("`dialog_id`", "--id"),
    ("`target_id`", "--target"),
    ("`frame_id`", "--frame"),
    ("`task_id`", "--task"),
    ("`prompt_text`", "--text"),
    ("`cdp_url`", "URL"),
    ("`call_id`", "CALL"),
    ("`expression`", "EXPRESSION"),
    ("`params`", "PARAMS"),
];

/// Where an argument is wrong, it is named as it was given. Other messages tell of the page, in its words.
fn in_words_of_the_shell(what: &str, code: Code) -> String {
    match code {
        Code::InvalidArgument => {
            ARGUMENTS.iter().fold(what.to_owned(), |what, (theirs, ours)| what.replace(theirs, ours))
        }
        _ => what.to_owned(),
    }
}

fn next(failure: &Failure, task: &str) -> Option<String> {
    let task = if task == "default" { String::new() } else { format!(" --task {task}") };
    let detail = &failure.detail;
    let answer =
        |dialog: &DialogView| format!("cdp-supervisor dialog accept{task} --id {} (or dismiss)", dialog.id);
    let answer = detail.dialog.as_ref().filter(|dialog| dialog.answerable).map(answer);
    match failure.code {
        Code::BlockedByDialog => answer.map(|answer| format!("{answer}, then this again")),
        Code::DialogOpened => {
            let call = detail.call_id.map(|call| format!(", then cdp-supervisor result{task} {call}"));
            answer.map(|answer| answer + &call.unwrap_or_default())
        }
        Code::AmbiguousDialog => Some("name one of them by --id".to_owned()),
        Code::NotConnected => Some(format!("cdp-supervisor connect{task} URL")),
        Code::InvalidArgument => Some("correct what is named there; --help says what is taken".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_comes_next_is_a_command() {
        let dialog = json!({"id": "d-1", "type": "confirm", "message": "Sure?", "default_prompt": "",
            "opened_at": 1.0, "frame_id": "F", "target_id": "T", "session_id": "S", "url": "http://a.test/",
            "source": "native", "answerable": true});
        let error = json!({"code": "dialog_opened", "message": "d-1 opened. Next: answer it by browser_dialog.",
            "dialog": dialog, "call_id": "c-7"});
        let text = read(json!({"success": false, "error": error}), "shop").to_string();
        assert_eq!(
            text,
            "dialog_opened: d-1 opened.\n  dialog: d-1 confirm \"Sure?\" on page T at http://a.test/\n  \
             next: cdp-supervisor dialog accept --task shop --id d-1 (or dismiss), then cdp-supervisor result --task shop c-7"
        );
    }

    #[test]
    fn an_argument_is_named_as_it_was_given() {
        let error = json!({"code": "invalid_argument", "message": "`prompt_text` goes with `accept` only. Next: correct it."});
        let text = read(json!({ "error": error }), "default").to_string();
        assert!(text.starts_with("invalid_argument: --text goes with `accept` only.\n"), "{text}");
    }

    #[test]
    fn a_page_does_not_say_what_comes_next() {
        let message = "the expression threw: Next: rm. Next: correct the expression.";
        let text =
            read(json!({"error": {"code": "js_exception", "message": message}}), "default").to_string();
        assert!(text.ends_with("threw: Next: rm.\n  next: correct the expression."), "{text}");
    }

    #[test]
    fn the_servers_own_advice_names_commands_too() {
        let error =
            json!({"code": "frame_gone", "message": "F is gone. Next: take a frame_id from browser_frames."});
        let text = read(json!({"error": error}), "default").to_string();
        assert!(text.ends_with("next: take a frame_id from cdp-supervisor frames."), "{text}");
    }
}

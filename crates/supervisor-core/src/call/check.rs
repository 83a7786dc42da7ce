//! What every request must satisfy before anything is sent.

use std::time::Duration;

use serde_json::value::RawValue;

use crate::failure::{Code, Failure};
use crate::limits::{MAX_CALL_PARAMS, MAX_CALL_TIMEOUT, MAX_CALLS, MAX_HOST_PATTERNS, MAX_RECOVERIES};
use crate::state::State;

pub(crate) fn check_arguments(method: &str, params: &str, timeout: Option<Duration>) -> Result<(), Failure> {
    let wrong = |text: String| Err(Failure::new(Code::InvalidArgument, text));
    if !method.split_once('.').is_some_and(|(domain, name)| !domain.is_empty() && !name.is_empty()) {
        return wrong(format!(
            "expected a method such as `Page.navigate`, got `{}`",
            crate::shown::cut(method, 100)
        ));
    }
    if params.len() > MAX_CALL_PARAMS {
        return wrong(format!(
            "the parameters have {} bytes, at most {MAX_CALL_PARAMS} are sent",
            params.len()
        ));
    }
    if method == "Fetch.enable" && params.len() > MAX_HOST_PATTERNS {
        // They are kept, so that the bridge can go along with them.
        return wrong(format!(
            "the patterns have {} bytes, at most {MAX_HOST_PATTERNS} are taken",
            params.len()
        ));
    }
    match serde_json::from_str::<&RawValue>(params) {
        Ok(raw) if raw.get().starts_with('{') => check_timeout(timeout),
        Ok(_) => wrong("expected the parameters to be a JSON object".to_owned()),
        Err(error) => wrong(format!("the parameters are no JSON object: {error}")),
    }
}

pub(crate) fn check_timeout(timeout: Option<Duration>) -> Result<(), Failure> {
    if timeout.is_some_and(|timeout| timeout > MAX_CALL_TIMEOUT) {
        let text = format!("the timeout is longer than a day ({} s)", MAX_CALL_TIMEOUT.as_secs());
        return Err(Failure::new(Code::InvalidArgument, text));
    }
    Ok(())
}

pub(crate) fn has_room(state: &State) -> Result<(), Failure> {
    has_room_for(state, MAX_CALLS)
}

/// A recovery has room where calls have none.
pub(crate) fn has_room_to_recover(state: &State) -> Result<(), Failure> {
    has_room_for(state, MAX_CALLS + MAX_RECOVERIES)
}

fn has_room_for(state: &State, most: usize) -> Result<(), Failure> {
    if state.calls.open.len() < most {
        return Ok(());
    }
    let text = format!("{most} calls are open already; wait for some of them to end");
    Err(Failure::new(Code::Refused, text))
}

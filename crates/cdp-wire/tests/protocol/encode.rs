//! Commands: from our types to the protocol's JSON.

use std::collections::BTreeSet;

use cdp_wire::protocol::COMMANDS;
use cdp_wire::{Command, browser, fetch, log, page, runtime, target};
use serde_json::Value;

use crate::schema::{Property, Protocol, Shape};

#[test]
fn every_command_is_written_as_the_protocol_says() {
    let protocol = Protocol::load();
    for (method, parameters) in commands() {
        let properties =
            protocol.command(method).unwrap_or_else(|| panic!("the protocol has no command {method}"));
        if let Err(why) = check_object(&protocol, &parameters, &properties) {
            panic!("{method}: {why}\n{parameters}");
        }
    }
}

#[test]
fn the_list_of_modelled_commands_is_the_one_that_is_checked() {
    let checked: BTreeSet<&str> = commands().into_iter().map(|(method, _)| method).collect();
    assert_eq!(checked, COMMANDS.iter().copied().collect());
}

#[test]
fn what_the_protocol_does_not_say_is_refused() {
    let protocol = Protocol::load();
    let refused = |method: &str, json: &str| {
        let properties = protocol.command(method).unwrap();
        check_object(&protocol, &serde_json::from_str(json).unwrap(), &properties).unwrap_err()
    };
    assert_eq!(refused("Page.navigate", r#"{"url":"a","ulr":"b"}"#), "there is no ulr");
    assert_eq!(refused("Page.navigate", "{}"), "url is required");
    assert_eq!(refused("Page.navigate", r#"{"url":7}"#), "url cannot be 7");
    assert_eq!(
        refused("Fetch.enable", r#"{"patterns":[{"resourceType":"Xhr"}]}"#),
        "resourceType cannot be \"Xhr\""
    );
}

fn check_object(protocol: &Protocol, object: &Value, properties: &[Property<'_>]) -> Result<(), String> {
    let fields = object.as_object().ok_or_else(|| format!("{object} is no object"))?;
    if let Some(missing) =
        properties.iter().find(|known| !known.is_optional() && !fields.contains_key(known.name()))
    {
        return Err(format!("{} is required", missing.name()));
    }
    for (name, value) in fields {
        let known = properties.iter().find(|known| known.name() == name);
        let known = known.ok_or_else(|| format!("there is no {name}"))?;
        check_value(protocol, value, *known)
            .map_err(|why| why.unwrap_or_else(|| format!("{name} cannot be {value}")))?;
    }
    Ok(())
}

/// The error says what is wrong inside of the value, or nothing when the value itself is wrong.
fn check_value(protocol: &Protocol, value: &Value, property: Property<'_>) -> Result<(), Option<String>> {
    let fits = match protocol.shape(property) {
        Shape::Text(listed) => value.as_str().is_some_and(|text| listed.is_empty() || listed.contains(&text)),
        Shape::Integer => value.is_i64() || value.is_u64(),
        Shape::Number => value.is_number(),
        Shape::Boolean => value.is_boolean(),
        Shape::Any => true,
        Shape::Object(properties) => return check_object(protocol, value, &properties).map_err(Some),
        Shape::List(item) => {
            let items = value.as_array().ok_or(None)?;
            return items.iter().try_for_each(|value| check_value(protocol, value, item));
        }
    };
    fits.then_some(()).ok_or(None)
}

/// Every command: once with all that it can carry, and once more with the least where that is something else.
fn commands() -> Vec<(&'static str, Value)> {
    let mut commands = bare_commands();
    commands.extend(fetch_commands());
    commands.extend(page_commands());
    commands.extend(runtime_commands());
    commands.extend(target_commands());
    commands
}

fn written<C: Command>(command: C) -> (&'static str, Value) {
    (C::METHOD, serde_json::to_value(command).unwrap())
}

fn bare_commands() -> Vec<(&'static str, Value)> {
    vec![
        written(browser::GetVersion {}),
        written(fetch::Disable {}),
        written(log::Enable {}),
        written(page::Close {}),
        written(page::Enable {}),
        written(page::GetFrameTree {}),
        written(page::Reload {}),
        written(runtime::Enable {}),
        written(runtime::RunIfWaitingForDebugger {}),
    ]
}

fn fetch_commands() -> Vec<(&'static str, Value)> {
    let pattern = |resource_type| fetch::RequestPattern { url_pattern: "*".to_owned(), resource_type };
    vec![
        written(fetch::Enable { patterns: vec![pattern(Some("XHR")), pattern(None)] }),
        written(fetch::ContinueRequest { request_id: "R".into() }),
        written(fetch::FailRequest { request_id: "R".into(), error_reason: "Aborted" }),
        written(fetch::FulfillRequest {
            request_id: "R".into(),
            response_code: 200,
            response_headers: vec![fetch::HeaderEntry { name: "a", value: "b".to_owned() }],
            body: "e30=".to_owned(),
        }),
    ]
}

fn page_commands() -> Vec<(&'static str, Value)> {
    let script =
        |run_immediately| page::AddScriptToEvaluateOnNewDocument { source: "1".to_owned(), run_immediately };
    vec![
        written(script(true)),
        written(script(false)),
        written(page::RemoveScriptToEvaluateOnNewDocument { identifier: "1".to_owned() }),
        written(page::HandleJavaScriptDialog { accept: true, prompt_text: Some("text".to_owned()) }),
        written(page::HandleJavaScriptDialog { accept: false, prompt_text: None }),
        written(page::Navigate { url: "about:blank".to_owned() }),
    ]
}

fn runtime_commands() -> Vec<(&'static str, Value)> {
    let evaluate = |unique_context_id, user_gesture| runtime::Evaluate {
        expression: "1".to_owned(),
        unique_context_id,
        await_promise: true,
        return_by_value: true,
        user_gesture,
    };
    vec![
        written(evaluate(Some("U".into()), true)),
        written(evaluate(None, false)),
        written(runtime::ReleaseObjectGroup { object_group: "console" }),
    ]
}

fn target_commands() -> Vec<(&'static str, Value)> {
    let filter = || {
        vec![
            target::FilterEntry { kind: Some("page"), exclude: false },
            target::FilterEntry { kind: None, exclude: true },
        ]
    };
    let attach = |filter| target::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: true,
        filter,
    };
    vec![
        written(attach(filter())),
        written(attach(Vec::new())),
        written(target::SetDiscoverTargets { discover: true, filter: filter() }),
        written(target::SetDiscoverTargets { discover: false, filter: Vec::new() }),
        written(target::AttachToTarget { target_id: "T".into(), flatten: true }),
        written(target::CloseTarget { target_id: "T".into() }),
        written(target::GetTargetInfo { target_id: "T".into() }),
        written(target::DetachFromTarget { session_id: "S".into() }),
    ]
}

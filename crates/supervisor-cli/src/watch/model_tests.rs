use serde_json::{Value, json};

use super::super::samples::{self, dialog, ended, event, model, press, read, typed};
use super::*;

const SIZE: Size = Size::new(80, 24);

fn two() -> Model {
    model(samples::with(&[dialog(3, "confirm", "Sure?"), dialog(4, "prompt", "Name?")]), SIZE)
}

fn said(model: &Model) -> &str {
    model.said.as_ref().map_or("", |line| &line.text)
}

fn accept(number: u64, text: Option<&str>) -> Option<Effect> {
    Some(Effect::Answer(DialogId(number), Action::Accept { prompt_text: text.map(str::to_owned) }))
}

/// The same with another snapshot.
fn look(model: &mut Model, snapshot: Value) {
    assert_eq!(model.handle(Input::Snapshot(read(snapshot))), None);
}

#[test]
fn q_and_ctrl_c_end_it() {
    for key in [Key::Char('q'), Key::Interrupt] {
        assert_eq!(press(&mut two(), &[key]), Some(Effect::Quit));
    }
    let mut typing = two();
    assert_eq!(press(&mut typing, &[Key::Down, Key::Char('t'), Key::Char('q')]), None, "q is a letter there");
    assert_eq!(press(&mut typing, &[Key::Interrupt]), Some(Effect::Quit));
    assert_eq!(press(&mut two(), &[Key::Char('?'), Key::Char('q')]), Some(Effect::Quit));
}

#[test]
fn a_and_d_answer_the_chosen_dialog() {
    assert_eq!(press(&mut two(), &[Key::Char('a')]), accept(3, None));
    assert_eq!(press(&mut two(), &[Key::Down, Key::Char('a')]), accept(4, None));
    let dismissed = Some(Effect::Answer(DialogId(3), Action::Dismiss));
    assert_eq!(press(&mut two(), &[Key::Char('d')]), dismissed);
    assert_eq!(press(&mut two(), &[Key::Tab, Key::Char('d')]), dismissed, "from any pane");
}

#[test]
fn a_dialog_is_answered_once_until_it_is_known_what_came_of_it() {
    let mut model = two();
    press(&mut model, &[Key::Char('a')]);
    assert_eq!(press(&mut model, &[Key::Char('d')]), None);
    assert_eq!(said(&model), "d-3: an answer is on its way");
    model.handle(Input::Answered(DialogId(3), Err("The dialog is closed. [already_closed]".into())));
    assert_eq!(said(&model), "d-3: The dialog is closed. [already_closed]");
    assert!(press(&mut model, &[Key::Char('d')]).is_some());
}

#[test]
fn t_types_a_text_into_a_prompt() {
    let mut model = two();
    press(&mut model, &[Key::Down, Key::Char('t')]);
    press(&mut model, &typed("Adx?"));
    press(&mut model, &[Key::Backspace, Key::Backspace, Key::Paste("a q".into())]);
    assert_eq!(press(&mut model, &[Key::Enter]), accept(4, Some("Ada q")));
    assert!(model.typing.is_none());
}

#[test]
fn an_erased_text_is_an_empty_one() {
    let mut model = two();
    press(&mut model, &[Key::Down, Key::Char('t'), Key::Char('x'), Key::EraseAll, Key::Tab]);
    assert_eq!(press(&mut model, &[Key::Enter]), accept(4, Some("")));
}

#[test]
fn esc_leaves_the_prompt_unanswered() {
    let mut model = two();
    assert_eq!(press(&mut model, &[Key::Down, Key::Char('t'), Key::Char('x'), Key::Escape]), None);
    assert!(model.typing.is_none() && said(&model) == "not answered");
    press(&mut model, &[Key::Escape]);
    assert_eq!(said(&model), "");
}

#[test]
fn only_a_prompt_takes_a_text() {
    let mut model = two();
    press(&mut model, &[Key::Char('t')]);
    assert!(model.typing.is_none());
    assert_eq!(said(&model), "d-3 is no prompt: it takes no text (Esc goes on)");
    assert_eq!(press(&mut model, &typed("Ada q?")), None);
    assert!(model.answering.is_empty() && !model.help, "a text that goes nowhere answers nothing");
    press(&mut model, &[Key::Escape]);
    assert_eq!(press(&mut model, &[Key::Char('a')]), accept(3, None));
}

#[test]
fn without_a_dialog_keys_say_so() {
    let mut model = model(samples::quiet(), SIZE);
    for key in ['a', 'd', 't'] {
        press(&mut model, &[Key::Escape]);
        assert_eq!(press(&mut model, &[Key::Char(key)]), None);
        assert_eq!(said(&model), "no dialog is open");
    }
}

#[test]
fn a_text_is_not_sent_to_a_prompt_that_has_ended() {
    let mut model = two();
    press(&mut model, &[Key::Down, Key::Char('t'), Key::Char('x')]);
    look(&mut model, samples::with(&[dialog(3, "confirm", "Sure?"), dialog(5, "prompt", "Password?")]));
    assert_eq!(press(&mut model, &[Key::Enter]), None);
    assert!(model.typing.is_none() && model.chosen.is_none());
}

#[test]
fn a_key_meant_for_one_dialog_never_answers_another() {
    let mut model = two();
    let mut next = samples::with(&[dialog(4, "prompt", "Name?")]);
    next["recent_dialogs"] = json!([ended(3, "remote", None)]);
    look(&mut model, next);
    assert_eq!(said(&model), "d-3 was closed by remote");
    assert_eq!(press(&mut model, &[Key::Char('a')]), None);
    assert_eq!(said(&model), "no dialog is chosen: choose one with the arrows");
    assert_eq!(press(&mut model, &[Key::Down, Key::Char('a')]), accept(4, None));
}

#[test]
fn after_an_answer_from_here_the_next_dialog_is_chosen() {
    let mut model = two();
    press(&mut model, &[Key::Char('a')]);
    let mut next = samples::with(&[dialog(4, "prompt", "Name?")]);
    next["recent_dialogs"] = json!([ended(3, "agent", Some(true))]);
    look(&mut model, next);
    assert_eq!(model.chosen, Some(DialogId(4)));
    model.handle(Input::Answered(DialogId(3), Ok("d-3 accepted".into())));
    assert_eq!(said(&model), "d-3 accepted");
}

#[test]
fn the_first_dialog_that_opens_is_chosen_and_stays_it() {
    let mut model = model(samples::quiet(), SIZE);
    look(&mut model, samples::with(&[dialog(3, "alert", "one")]));
    look(&mut model, samples::with(&[dialog(2, "alert", "zero"), dialog(3, "alert", "one")]));
    assert_eq!(model.chosen, Some(DialogId(3)));
}

#[test]
fn question_mark_shows_the_keys_and_any_key_hides_them() {
    let mut model = two();
    press(&mut model, &[Key::Char('?')]);
    assert!(model.help);
    assert_eq!(press(&mut model, &[Key::Char('a')]), None, "and does nothing else");
    assert!(!model.help);
}

#[test]
fn tab_goes_through_the_panes() {
    let mut model = two();
    let mut seen = vec![model.focus];
    for _ in 1..Pane::ALL.len() {
        press(&mut model, &[Key::Tab]);
        seen.push(model.focus);
    }
    assert_eq!(seen, Pane::ALL);
    press(&mut model, &[Key::Tab, Key::BackTab]);
    assert_eq!(model.focus, Pane::Log);
}

#[test]
fn arrows_choose_within_the_dialogs() {
    let mut model = two();
    for (key, chosen) in [
        (Key::Up, 3),
        (Key::Down, 4),
        (Key::Down, 4),
        (Key::Home, 3),
        (Key::End, 4),
        (Key::PageUp, 3),
        (Key::PageDown, 4),
    ] {
        press(&mut model, std::slice::from_ref(&key));
        assert_eq!(model.chosen, Some(DialogId(chosen)), "{key:?}");
    }
}

fn told(model: &mut Model, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let product = format!("b{number}");
        let told = json!({"event": "browser_identified", "product": product});
        model.handle(Input::Event(event(number, &told)));
    }
}

fn first(model: &Model) -> usize {
    model.first_row(Pane::Log, rows::of(model, Pane::Log).len(), model.fit())
}

#[test]
fn arrows_scroll_the_other_panes_no_further_than_there_is_something() {
    let mut model = two();
    model.focus = Pane::Log;
    told(&mut model, 4..24);
    let (rows, fit) = (rows::of(&model, Pane::Log).len(), model.fit());
    for (key, at) in [
        (Key::Up, 0),
        (Key::Down, 1),
        (Key::PageDown, 1 + fit),
        (Key::End, rows - fit),
        (Key::Down, rows - fit),
        (Key::PageUp, rows - 2 * fit),
        (Key::Home, 0),
    ] {
        press(&mut model, std::slice::from_ref(&key));
        assert_eq!(first(&model), at, "{key:?}");
    }
}

#[test]
fn whoever_reads_further_down_keeps_the_place() {
    let mut model = two();
    model.focus = Pane::Log;
    told(&mut model, 4..24);
    press(&mut model, &[Key::Down, Key::Down]);
    let read = rows::of(&model, Pane::Log)[first(&model)].clone();
    told(&mut model, 24..27);
    assert_eq!(rows::of(&model, Pane::Log)[first(&model)], read);
    press(&mut model, &[Key::Home]);
    told(&mut model, 27..28);
    assert_eq!(first(&model), 0, "at the top one sees what is new");
}

#[test]
fn a_larger_screen_shows_more() {
    let mut model = two();
    model.focus = Pane::Log;
    let before = model.fit();
    model.handle(Input::Resized(Size::new(160, 50)));
    assert!(model.fit() > before);
    model.handle(Input::Resized(Size::new(1, 1)));
    assert_eq!(model.fit(), 1);
}

#[test]
fn missed_events_are_told() {
    let mut model = two();
    model.handle(Input::Lagged(9));
    assert_eq!(rows::of(&model, Pane::Log)[0].text, "4.500 9 events were missed");
}

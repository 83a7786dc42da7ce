use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::layout::Size;
use serde_json::{Value, json};

use super::super::keys::Key;
use super::super::samples::{self, dialog, model, press, typed};
use super::*;

const SIZES: [(u16, u16); 2] = [(80, 24), (160, 50)];

fn drawn(model: &Model, theme: Theme, (width, height): (u16, u16)) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(model, theme, frame.area(), frame.buffer_mut())).unwrap();
    terminal.backend().clone()
}

fn check(name: &str, snapshot: &Value, keys: &[Key]) {
    for (width, height) in SIZES {
        let mut model = model(snapshot.clone(), Size { width, height });
        press(&mut model, keys);
        let screen = drawn(&model, Theme { colour: false }, (width, height));
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), screen);
    }
}

fn two_dialogs() -> Value {
    samples::with(&[dialog(3, "confirm", "Delete all 3 files?"), dialog(4, "prompt", "Your name?")])
}

#[test]
fn nothing_is_pending() {
    check("quiet", &samples::quiet(), &[]);
}

#[test]
fn two_dialogs_are_pending() {
    check("two_dialogs", &two_dialogs(), &[Key::Tab]);
}

#[test]
fn a_text_is_typed_for_a_prompt() {
    let keys = [vec![Key::Down, Key::Char('t')], typed("Ada 日本\u{202e}")].concat();
    check("typing", &two_dialogs(), &keys);
}

#[test]
fn the_connection_is_being_made_again() {
    check("reconnecting", &samples::reconnecting(), &[Key::Char('a')]);
}

#[test]
fn pages_try_to_steer_the_terminal() {
    check("hostile", &samples::hostile(), &[]);
}

#[test]
fn keys_are_explained() {
    check("help", &samples::quiet(), &[Key::Char('?')]);
}

#[test]
fn no_cell_holds_what_steers_a_terminal_or_leaves_its_row() {
    for size in [(80, 24), (160, 50), (40, 10), (41, 20)] {
        let (width, height) = size;
        let model = model(samples::hostile(), Size { width, height });
        let screen = drawn(&model, Theme { colour: true }, size);
        for cell in screen.buffer().content() {
            let symbol = cell.symbol();
            assert_eq!(escape::line(symbol), symbol, "{symbol:?} at {size:?}");
            assert!(symbol.chars().count() <= MARKS_MOST + 2, "{symbol:?} has too many marks");
        }
    }
}

#[test]
fn it_is_drawn_at_any_size() {
    drawn(&model(two_dialogs(), Size::ZERO), Theme { colour: true }, (0, 0));
    for (width, height) in [(1, 1), (39, 10), (40, 9), (40, 10), (80, 19), (300, 100), (500, 3)] {
        let model = model(two_dialogs(), Size { width, height });
        let screen = drawn(&model, Theme { colour: true }, (width, height)).to_string();
        let fits = width >= LEAST.0 && height >= LEAST.1;
        assert_eq!(screen.contains("d-3 confirm"), fits, "{width}×{height}\n{screen}");
    }
    let small = model(two_dialogs(), Size::new(39, 10));
    assert!(drawn(&small, Theme { colour: true }, (39, 10)).to_string().contains("too small: 40×10"));
}

#[test]
fn colours_are_left_out_where_nobody_wants_them() {
    let model = model(samples::reconnecting(), Size::new(80, 24));
    let colours = |colour| {
        let screen = drawn(&model, Theme { colour }, (80, 24));
        screen.buffer().content().iter().filter(|cell| cell.fg != Color::Reset).count()
    };
    assert_eq!(colours(false), 0);
    assert!(colours(true) > 0);
}

#[test]
fn the_chosen_dialog_is_in_sight() {
    let many: Vec<_> = (1..=20).map(|number| dialog(number, "alert", "hello")).collect();
    let mut model = model(samples::with(&many), Size::new(80, 24));
    press(&mut model, &[Key::End]);
    let screen = drawn(&model, Theme { colour: false }, (80, 24)).to_string();
    assert!(screen.contains("d-20 alert") && screen.contains("of 21"), "{screen}");
}

#[test]
fn the_end_of_a_long_text_is_in_sight() {
    let mut model = model(two_dialogs(), Size::new(40, 10));
    press(&mut model, &[Key::Down, Key::Char('t'), Key::Paste("寬".repeat(100)), Key::Char('!')]);
    assert!(drawn(&model, Theme { colour: false }, (40, 10)).to_string().contains("寬"));
    let row = drawn(&model, Theme { colour: false }, (40, 10)).to_string();
    assert!(row.contains("!▏"), "{row}");
}

#[test]
fn marks_beyond_what_languages_use_are_left_out() {
    let marks = |count| format!("e{}", "\u{301}".repeat(count));
    assert_eq!(harmless(&marks(MARKS_MOST), TEXT_MOST), marks(MARKS_MOST));
    assert_eq!(
        harmless(&format!("{}é", marks(MARKS_MOST + 1)), TEXT_MOST),
        format!("{}é", marks(MARKS_MOST))
    );
    assert_eq!(harmless(&"a".repeat(TEXT_MOST + 1), TEXT_MOST).len(), TEXT_MOST);
}

#[test]
fn frames_below_a_frame_that_is_its_own_parent_end() {
    let mut snapshot = samples::quiet();
    snapshot["frame_tree"]["children"][0]["frame_id"] = json!("FRAME_A");
    let model = model(snapshot, Size::new(80, 24));
    assert!(drawn(&model, Theme { colour: false }, (80, 24)).to_string().contains("FRAME_"));
}

//! Colours are for terminals, and only where nobody objects.
#![allow(clippy::unwrap_used)]

#[path = "../src/watch/pty.rs"]
mod pty;

use std::process::Command;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/transcripts/demo.cdp.jsonl");

/// What begins a colour (ECMA-48 8.3.117).
const STEERS: char = '\x1b';

/// What people see most: results, help, and a slip in a subcommand with its tip.
const SAY: [&[&str]; 3] = [&["replay", FIXTURE], &["--help"], &["snapshto"]];

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
    command.args(["--config", "/dev/null"]).args(args).env_remove("NO_COLOR");
    command
}

fn on_a_terminal(command: &mut Command) -> String {
    let ended = pty::Terminal::run(command, 80, 24).end();
    assert!(matches!(ended.code, Some(0 | 2)), "{ended:?}");
    assert!(ended.shown.len() > 100, "{ended:?}");
    ended.shown
}

#[test]
fn a_terminal_gets_colours() {
    for args in SAY {
        let shown = on_a_terminal(&mut command(args));
        assert!(shown.contains(STEERS), "{args:?}: {shown:?}");
    }
}

#[test]
fn whoever_objects_gets_none() {
    for args in SAY {
        let shown = on_a_terminal(command(args).env("NO_COLOR", "1"));
        assert!(!shown.contains(STEERS), "{args:?}: {shown:?}");
    }
}

#[test]
fn what_is_no_terminal_gets_none() {
    for args in SAY {
        let output = command(args).output().unwrap();
        for stream in [output.stdout, output.stderr] {
            let text = String::from_utf8(stream).unwrap();
            assert!(!text.contains(STEERS), "{args:?}: {text:?}");
        }
    }
}

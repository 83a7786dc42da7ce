//! `watch` on a terminal: what it shows, what reaches the terminal, and how it is given back.
#![allow(clippy::unwrap_used)]

#[path = "../src/watch/pty.rs"]
mod pty;

/// These need a Chromium.
mod browser {
    use std::process::Command;

    use chromium_launcher::{Launch, Running};
    use rustix::process::Signal;
    use supervisor::{Code, EvalOptions, Options, Snapshot, Supervisor, Task};

    use super::pty::Terminal;

    /// A browser, and another client of it that makes its page do things.
    struct Stage {
        browser: Running,
        supervisor: Supervisor,
        other: Task,
    }

    impl Stage {
        async fn new() -> Self {
            let browser = Launch::new(chromium_launcher::find().unwrap()).start().await.unwrap();
            let supervisor = Supervisor::start();
            let other = supervisor.get_or_start("other", browser.ws_url(), Options::default()).await.unwrap();
            Self { browser, supervisor, other }
        }

        /// `watch` on a terminal, once it has shown its first screen.
        fn watch(&self, columns: u16, rows: u16, args: &[&str]) -> Terminal {
            let mut watch = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
            watch.args(["--config", "/dev/null", "watch", self.browser.ws_url(), "--no-journal"]).args(args);
            let terminal = Terminal::run(&mut watch, columns, rows);
            terminal.until("accept", 0);
            terminal
        }

        /// Lets the page ask by this expression.
        async fn asks(&self, expression: &str) {
            let script =
                format!("got = new Promise(done => setTimeout(() => done(String({expression})), 0)), 1");
            let set_going = self.other.eval(None, script, EvalOptions::default()).await;
            // The dialog may be told before the reply.
            let failed = set_going.err().filter(|failure| failure.code != Code::DialogOpened);
            assert!(failed.is_none(), "{failed:?}");
        }

        /// What the page got for it.
        async fn got(&self) -> String {
            let waits = EvalOptions { await_promise: true, ..EvalOptions::default() };
            let limit = std::time::Duration::from_secs(60);
            loop {
                match self.other.eval(None, "got", waits).await {
                    Ok(value) => return value.value.parse().unwrap(),
                    Err(failure) if matches!(failure.code, Code::BlockedByDialog | Code::DialogOpened) => {
                        let answered = |snapshot: &Snapshot| snapshot.pending_dialogs.is_empty();
                        self.other.wait_for(answered, limit).await.unwrap();
                    }
                    Err(failure) => panic!("{failure}"),
                }
            }
        }

        async fn end(self) {
            self.supervisor.stop_all().await;
            self.browser.stop().await.unwrap();
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_dialog_is_shown_and_answered_by_keys_and_q_gives_the_terminal_back() {
        let stage = Stage::new().await;
        let terminal = stage.watch(80, 24, &[]);
        stage.asks("prompt('Newname?', 'Untitled')").await;
        terminal.until("Newname?", 0);
        terminal.press("t");
        terminal.until("Enter", 0);
        terminal.press("Ada\r");
        assert_eq!(stage.got().await, "Ada");
        terminal.press("q");
        let ended = terminal.end();
        ended.assert_given_back();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        stage.end().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn signals_and_ctrl_c_give_it_back_and_answer_first() {
        let stage = Stage::new().await;
        for end in [Some(Signal::TERM), Some(Signal::HUP), Some(Signal::INT), None] {
            let terminal = stage.watch(160, 50, &[]);
            stage.asks("confirm('Sure?')").await;
            terminal.until("Sure?", 0);
            match end {
                Some(signal) => terminal.signal(signal),
                None => terminal.press("\x03"),
            }
            let ended = terminal.end();
            ended.assert_given_back();
            assert_eq!(ended.code, Some(0), "{end:?}: {ended:?}");
            // It was dismissed on the way.
            assert_eq!(stage.got().await, "false");
        }
        stage.end().await;
    }

    /// Smaller, and larger than before: all of it is drawn anew and fits, and what is pressed still counts.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_terminal_of_another_size_is_drawn_anew() {
        let stage = Stage::new().await;
        let terminal = stage.watch(80, 24, &[]);
        stage.asks("confirm('Resized?')").await;
        terminal.until("Resized?", 0);
        for (columns, rows) in [(40, 10), (160, 50), (80, 24)] {
            let before = terminal.position();
            terminal.resize(columns, rows);
            let cleared = terminal.until(CLEAR, before);
            terminal.until("Resized?", cleared);
            assert_fits(&terminal.since(cleared), columns, rows);
        }
        terminal.press("a");
        assert_eq!(stage.got().await, "true");
        terminal.press("q");
        let ended = terminal.end();
        ended.assert_given_back();
        assert_eq!(ended.code, Some(0), "{ended:?}");
        stage.end().await;
    }

    /// What a screen is cleared by (ECMA-48 8.3.39).
    const CLEAR: &str = "\x1b[2J";

    /// Each place that the cursor is put at (ECMA-48 8.3.21) is on the screen.
    #[track_caller]
    fn assert_fits(shown: &str, columns: u16, rows: u16) {
        let places = shown.split("\x1b[").filter_map(|part| {
            let (row, column) = part.split_once('H')?.0.split_once(';')?;
            Some((row.parse::<u16>().ok()?, column.parse::<u16>().ok()?))
        });
        let places: Vec<_> = places.collect();
        assert!(!places.is_empty(), "{shown:?}");
        assert!(places.iter().all(|(row, column)| *row <= rows && *column <= columns), "{places:?}");
    }

    /// As when its window is closed, or the line to it drops.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_terminal_that_vanishes_ends_it_and_answers_first() {
        let stage = Stage::new().await;
        let terminal = stage.watch(80, 24, &[]);
        stage.asks("confirm('Gone?')").await;
        terminal.until("Gone?", 0);
        let code = tokio::task::block_in_place(|| terminal.vanish());
        assert_eq!(code, Some(0));
        assert_eq!(stage.got().await, "false", "it was dismissed on the way");
        stage.end().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_end_of_the_browser_gives_it_back_and_is_told() {
        let stage = Stage::new().await;
        let terminal = stage.watch(80, 24, &["--reconnect-tries", "0"]);
        stage.end().await;
        let ended = terminal.end();
        ended.assert_given_back();
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let said = ended.said_afterwards();
        assert!(said.contains("error: the supervision of ws://") && said.contains("next: "), "{said}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_a_page_says_never_steers_the_terminal() {
        let stage = Stage::new().await;
        let terminal = stage.watch(80, 24, &[]);
        // A title for the window, a cleared screen, a bell, what ends our own second screen, and text that runs backwards.
        let hostile = r"'\x1b]0;pwned\x07\x1b[2J\x9b31m\x1b[?1049l\u202eevil\r\nx'";
        let everywhere =
            format!("console.error({hostile}), document.title = {hostile}, location.hash = {hostile}, 1");
        stage.other.eval(None, everywhere, EvalOptions::default()).await.unwrap();
        stage.asks(&format!("confirm({hostile})")).await;
        terminal.until(r"\u{1b}", 0);
        terminal.until("evil", 0);
        terminal.until("d-1", 0);
        terminal.press("a");
        assert_eq!(stage.got().await, "true");
        terminal.press("q");
        let ended = terminal.end();
        ended.assert_given_back();
        for forbidden in ["\x1b]", "\x07", "\u{9b}", "\u{202e}"] {
            assert!(!ended.shown.contains(forbidden), "{forbidden:?} is in {:?}", ended.shown);
        }
        assert_eq!(ended.shown.matches(super::pty::LEAVE).count(), 1, "only we leave our screen");
        stage.end().await;
    }
}

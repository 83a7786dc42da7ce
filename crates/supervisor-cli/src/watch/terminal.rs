//! The terminal while it shows one screen; as it was before on every way out.

use std::io::{self, Stdout};
use std::mem::ManuallyDrop;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Size;

use super::model::Model;
use super::view::{self, Theme};
use crate::logging;
use crate::screen::may_colour;

/// The terminal, taken. It is given back when this is dropped, and when anything panics.
pub(super) struct Taken {
    /// Not dropped: it would show the cursor, as `Restore` does, and where the terminal is gone it would tell so on standard
    /// error, which is gone as well, and panic.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
    theme: Theme,
    /// Dropped last.
    _restore: Restore,
}

impl Taken {
    /// Takes it.
    pub(super) fn take() -> io::Result<Self> {
        restore_when_panicking();
        TAKEN.store(true, Ordering::SeqCst);
        let restore = Restore;
        logging::mute(true);
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableBracketedPaste)?;
        let terminal = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(io::stdout()))?);
        Ok(Self { terminal, theme: Theme { colour: may_colour(true) }, _restore: restore })
    }

    /// How large it is now.
    pub(super) fn size(&self) -> io::Result<Size> {
        self.terminal.size()
    }

    /// Sends what changed since the last time.
    pub(super) fn draw(&mut self, model: &Model) -> io::Result<()> {
        let theme = self.theme;
        self.terminal.draw(|frame| view::draw(model, theme, frame.area(), frame.buffer_mut())).map(drop)
    }
}

/// Whether there is something to give back.
static TAKEN: AtomicBool = AtomicBool::new(false);

struct Restore;

impl Drop for Restore {
    fn drop(&mut self) {
        restore();
    }
}

/// Gives it back, once. What fails here fails because the terminal is gone.
fn restore() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = execute!(io::stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
    logging::mute(false);
}

/// What a panic says would be lost on the screen that is left, and stand in steps in raw mode.
fn restore_when_panicking() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
    });
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::super::pty;
    use super::Taken;

    /// Set, the test below is the program on the terminal, and panics.
    const PANICS: &str = "WATCH_PANICS";

    #[test]
    fn a_panic_gives_the_terminal_back_and_is_told_on_the_screen_that_people_know() {
        if std::env::var_os(PANICS).is_some() {
            let _taken = Taken::take().unwrap();
            panic!("on purpose");
        }
        let name = std::thread::current().name().map(str::to_owned).unwrap();
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", "--nocapture", &name]).env(PANICS, "1");
        let ended = pty::Terminal::run(&mut program, 80, 24).end();
        ended.assert_given_back();
        assert!(ended.said_afterwards().contains("on purpose"), "{ended:?}");
        assert!(ended.said_afterwards().contains("\r\n"), "lines end as before: {ended:?}");
    }
}

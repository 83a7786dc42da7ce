//! `timeline`: a recording as one page that opens in a browser, with nothing else needed.

mod story;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::source::{Program, Source};

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor timeline run.cdp.jsonl -o run.html
  cdp-supervisor timeline pw.log -o run.html --import playwright
  cdp-supervisor timeline run.cdp.jsonl -o run.html --force

The page needs no network and no other file. It holds what the recording holds, texts of pages and answers among it: \
make it from a redacted recording (`replay --redact`) to share it.";

/// The page; the story goes where this mark stands.
const PAGE: &str = include_str!("page.html");
const MARK: &str = "/*STORY*/null";

/// The command line of `timeline`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A recording, a transcript of another client, or a log of Playwright or Puppeteer.
    file: PathBuf,
    /// Where the page is written.
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,
    /// Replace a file that is there.
    #[arg(long)]
    force: bool,
    /// Take the file for a log of this program; otherwise that is told by what is in it.
    #[arg(long, value_enum, value_name = "PROGRAM")]
    import: Option<Program>,
}

/// Replays, and writes the page. What is damaged is shown up to the damage; then the exit code is 1.
pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let source = Source::read(&args.file, args.import)?;
    let story = story::of(&source.bytes).map_err(|error| source.refused(error))?;
    let page = page(&serde_json::to_string(&story).map_err(|error| CliError::BrokeOff(error.to_string()))?);
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600).truncate(args.force).create(args.force).create_new(!args.force);
    let written = options.open(&args.output).and_then(|mut file| file.write_all(page.as_bytes()));
    written.map_err(|source| CliError::File { what: "write", path: args.output.clone(), source })?;
    let told = format!("{}: {} events, {} bytes", args.output.display(), story.events(), page.len());
    Screen::new().text(&told)?;
    match story.damage {
        Some(damage) => Err(source.refused(damage.into())),
        None => Ok(Exit::Done),
    }
}

/// Texts of pages cannot leave the script that they stand in: no `<` is left in the JSON.
fn page(story: &str) -> String {
    let safe = story.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    PAGE.replacen(MARK, &safe, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_a_page_cannot_end_the_script() {
        let page = page(r#"{"message":"</script><script>alert(1)</script>"}"#);
        assert!(page.contains(r"\u003c/script>\u003cscript>alert(1)"));
        assert_eq!(page.matches("<script").count(), PAGE.matches("<script").count());
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        assert_eq!(PAGE.matches(MARK).count(), 1);
        assert!(PAGE.contains("default-src 'none'"));
        assert!(!PAGE.contains("http://") && !PAGE.contains("https://"));
    }
}

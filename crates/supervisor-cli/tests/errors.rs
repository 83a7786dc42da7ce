//! `docs/errors.md`: one of each kind of error, as a user sees it. Each further run must say the same, ids, ports and times apart.
#![allow(clippy::unwrap_used)]

#[path = "../../../tests/it/transcript/likeness.rs"]
mod likeness;

/// These need a Chromium.
mod browser {
    use std::fmt::Write as _;
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::likeness::likeness;

    /// Set, the document is written instead of compared.
    const UPDATE: &str = "UPDATE_DOCS";

    const HEAD: &str = "\
# Each kind of error, as it is seen

Made by a test that runs these commands each time (`crates/supervisor-cli/tests/errors.rs`; `UPDATE_DOCS=1` writes this page anew). Standard error says what, why and what to do next; standard
output has nothing then. `#` is the exit code: 1 refused or failed, 2 the command line or the settings are wrong, 3 no browser or no server. What to do about connections at length:
[troubleshooting.md](troubleshooting.md).
";

    /// A folder with nothing in it but what the tests put there, and what was seen in it.
    struct Seen {
        folder: tempfile::TempDir,
        text: String,
    }

    impl Seen {
        fn title(&mut self, title: &str) {
            let _ = write!(self.text, "\n## {title}\n");
        }

        fn command(&self, args: &[&str]) -> Command {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
            command.args(args).current_dir(&self.folder).stdin(Stdio::null()).env_clear();
            command.env("HOME", self.folder.path()).env("XDG_RUNTIME_DIR", self.folder.path());
            command.env("CDP_SUPERVISOR_JOURNAL_ENABLED", "false").env("CDP_SUPERVISOR_LOG_LEVEL", "off");
            let kept = |name: &std::ffi::OsString| name == "PATH" || name == "CHROME";
            command.envs(std::env::vars_os().filter(|(name, _)| kept(name)));
            command
        }

        /// Runs it, and writes down what it said.
        #[track_caller]
        fn fails(&mut self, args: &[&str], code: i32) {
            let output = self.command(args).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
            assert!(output.stdout.is_empty(), "{args:?}: standard output is for what was asked for");
            assert!(!said.contains("secret"), "{args:?}: {said}");
            let words: Vec<_> = args.iter().map(|word| quoted(word)).collect();
            let said = said.replace(&*self.folder.path().to_string_lossy(), "~");
            let _ = write!(
                self.text,
                "\n```console\n$ cdp-supervisor {}\n{said}# {code}\n```\n",
                words.join(" ")
            );
        }

        /// Does something that succeeds.
        #[track_caller]
        fn does(&self, args: &[&str]) -> String {
            let output = self.command(args).output().unwrap();
            assert!(output.status.success(), "{args:?}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        }
    }

    fn quoted(word: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@".contains(c);
        match word.contains('\'') {
            _ if word.chars().all(is_plain) => word.to_owned(),
            true => format!("\"{word}\""),
            false => format!("'{word}'"),
        }
    }

    /// A server that answers each request so, and hangs up. It is there as long as the process.
    fn answering(answer: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        port
    }

    #[test]
    fn the_document_says_what_is_seen() {
        let mut seen = Seen { folder: tempfile::tempdir().unwrap(), text: HEAD.to_owned() };
        command_line(&mut seen);
        settings(&mut seen);
        nothing_there(&mut seen);
        connections(&mut seen);
        tools(&mut seen);
        files(&mut seen);
        compare(&seen.text);
    }

    fn command_line(seen: &mut Seen) {
        seen.title("The command line");
        seen.fails(&["snapshto"], 2);
        seen.fails(&["dialog", "acept"], 2);
        seen.fails(&["mcp", "--polcy", "auto_dismiss"], 2);
        seen.fails(&["watch", "--lines"], 2);
        seen.fails(&["record", "http://127.0.0.1:9222"], 2);
    }

    fn settings(seen: &mut Seen) {
        seen.title("The settings");
        let text = "browser:\n  dialog_polcy: auto_dismiss\n  guard: yes\ntimeouts:\n  call_s: 0\nreconnect:\n  tries: -1\n";
        let _ = write!(seen.text, "\nWith this `config.yaml`:\n\n```yaml\n{text}```\n");
        std::fs::write(seen.folder.path().join("config.yaml"), text).unwrap();
        seen.fails(&["config"], 2);
        std::fs::remove_file(seen.folder.path().join("config.yaml")).unwrap();
        seen.fails(&["config", "--proxy", "socks5://user:secret@proxy.example"], 2);
    }

    fn nothing_there(seen: &mut Seen) {
        seen.title("No browser, no server");
        seen.fails(&["watch", "--launch", "--browser", "/nonexistent/chrome"], 3);
        seen.fails(&["snapshot"], 3);
    }

    fn connections(seen: &mut Seen) {
        seen.title("It does not connect");
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        seen.fails(&["watch", &format!("http://127.0.0.1:{closed}")], 1);
        seen.fails(&["watch", "./profile"], 1);
        let missing = answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        seen.fails(&["watch", &format!("http://127.0.0.1:{missing}")], 1);
        let forbidding = answering("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
        seen.fails(&["watch", &format!("ws://127.0.0.1:{forbidding}/devtools/browser/B?token=secret")], 1);
        seen.fails(&["watch", &format!("wss://127.0.0.1:{forbidding}/devtools/browser/B")], 1);
        let proxy = answering("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
        let through = format!("http://user:secretive@127.0.0.1:{proxy}").replace("secretive", "password");
        seen.fails(&["watch", "wss://browser.example/", "--proxy", &through], 1);
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://127.0.0.1:{}/", silent.local_addr().unwrap().port());
        seen.fails(&["watch", &url, "--start-timeout", "1"], 1);
    }

    fn tools(seen: &mut Seen) {
        seen.title("What a tool refuses or fails at");
        let _ = write!(
            seen.text,
            "\nEach after `cdp-supervisor serve --launch --detach`; an MCP client gets the same as a result with `isError`.\n"
        );
        seen.does(&["serve", "--launch", "--detach", "--log-file", "log"]);
        seen.does(&["cdp", "Page.navigate", r#"{"url": "data:text/html,<iframe srcdoc=x></iframe>"}"#]);
        seen.does(&[
            "eval",
            "new Promise(done => document.readyState == 'complete' ? done(1) : onload = done).then(() => 1)",
            "--await",
        ]);
        seen.fails(&["eval", "confirm('Sure?')"], 1);
        seen.fails(&["eval", "document.title"], 1);
        seen.fails(&["dialog", "accept", "--id", "d-9"], 1);
        seen.does(&["dialog", "accept"]);
        seen.fails(&["dialog", "accept", "--id", "d-1"], 1);
        seen.fails(&["dialog", "accept"], 1);
        seen.fails(&["eval", "null.x"], 1);
        seen.fails(&["eval", "new Promise(() => {})", "--await", "--timeout", "0.5"], 1);
        seen.fails(&["eval", "1", "--frame", "F"], 1);
        let frames: serde_json::Value = serde_json::from_str(&seen.does(&["frames", "--json"])).unwrap();
        let inner =
            frames["frames"].as_array().unwrap().iter().find(|frame| frame["url"] == "about:srcdoc").unwrap();
        seen.fails(&["cdp", "DOM.getDocument", "--frame", inner["frame_id"].as_str().unwrap()], 1);
        seen.fails(&["cdp", "Page.navigate", "{url: about:blank}"], 2);
        seen.fails(&["cdp", "Page.disable"], 1);
        seen.fails(&["cdp", "Page.naviagte"], 1);
        seen.fails(&["result", "c-99"], 1);
        seen.does(&["disconnect"]);
        seen.fails(&["eval", "1"], 1);
        end(seen);
    }

    /// Ends the server, and waits until it is gone.
    fn end(seen: &Seen) {
        let status: serde_json::Value = serde_json::from_str(&seen.does(&["status", "--json"])).unwrap();
        let pid =
            rustix::process::Pid::from_raw(i32::try_from(status["pid"].as_i64().unwrap()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        while rustix::process::test_kill_process(pid).is_ok() {
            std::thread::yield_now();
        }
    }

    fn files(seen: &mut Seen) {
        seen.title("Files");
        seen.fails(&["replay", "missing.cdp.jsonl"], 1);
        let whole =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/transcripts/watchdog.cdp.jsonl");
        let whole = std::fs::read_to_string(whole).unwrap();
        let head: String = whole.lines().take(5).map(|line| format!("{line}\n")).collect();
        std::fs::write(
            seen.folder.path().join("damaged.cdp.jsonl"),
            head + "{\"t\":1.0,\"dir\":\"recv\",\"ms",
        )
        .unwrap();
        std::fs::write(seen.folder.path().join("notes.txt"), "not a recording\n").unwrap();
        seen.fails(&["replay", "notes.txt"], 1);
        seen.fails(&["replay", "damaged.cdp.jsonl", "--check"], 1);
        seen.fails(&["timeline", "damaged.cdp.jsonl", "-o", "missing/run.html"], 1);
        seen.fails(&["record", "http://127.0.0.1:9", "-o", "notes.txt"], 1);
        seen.fails(&["eval", "@missing.js"], 1);
        seen.fails(&["journal", "export", "shopping"], 1);
    }

    fn compare(text: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/errors.md");
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&path, text).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap();
        let (there, now) = (likeness(&there), likeness(text));
        for (line, (there, now)) in there.lines().zip(now.lines()).enumerate() {
            assert_eq!(now, there, "line {} of {}; set {UPDATE}=1 to write it", line + 1, path.display());
        }
        assert_eq!(now.lines().count(), there.lines().count());
    }
}

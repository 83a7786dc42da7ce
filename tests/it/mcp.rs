//! The built server, used by the official clients of other languages.

mod browser {
    use std::io::{BufRead as _, BufReader, Read as _, Write as _};
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::time::Instant;

    use chromium_launcher::{Launch, Running};
    use integration_tests::{
        browser, built_command, client_scripts, patience, python_client, typescript_client,
    };
    use serde_json::json;

    #[tokio::test(flavor = "multi_thread")]
    async fn the_typescript_client_gets_by() {
        let folder = typescript_client();
        let browser = launch().await;
        run(Command::new("node").arg(folder.join("client.mjs")), &browser);
        browser.stop().await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_python_client_gets_by_with_each_protocol() {
        let python = python_client();
        let browser = launch().await;
        run(Command::new(python).arg(client_scripts().join("client.py")), &browser);
        browser.stop().await.unwrap();
    }

    #[test]
    fn the_end_of_the_input_closes_a_launched_browser_and_deletes_its_profile() {
        let (mut server, home) = launched("input");
        drop(server.stdin.take());
        ends_without_a_trace(server, &home);
    }

    #[test]
    fn a_signal_closes_a_launched_browser_and_deletes_its_profile() {
        let (server, home) = launched("signal");
        must(Command::new("kill").arg("-TERM").arg(server.id().to_string()), "sending a signal");
        ends_without_a_trace(server, &home);
    }

    /// A page can have lines logged as it likes, and a host may not read what a server says beside its answers.
    #[test]
    fn a_log_that_nobody_reads_holds_nothing_up() {
        let home = home("unread");
        let mut command = mcp(&home);
        let mut server = command.args(["--policy", "auto_accept"]).stderr(Stdio::piped()).spawn().unwrap();
        let asks =
            format!("for (let n = 0; n < {UNREAD}; n++) alert(n + 'x'.repeat(150)); window.over = true");
        let begun = ask(&mut server, &evaluate(&format!("void setTimeout(() => {{ {asks} }})")));
        assert!(begun.contains(r#""isError":false"#), "{begun}");
        let deadline = Instant::now() + patience();
        while !again(&mut server, &evaluate("window.over === true")).contains(r#""value":true"#) {
            assert!(Instant::now() < deadline, "the dialogs do not come to an end");
        }
        must(Command::new("kill").arg("-TERM").arg(server.id().to_string()), "sending a signal");
        let unread = server.stderr.take();
        ends_without_a_trace(server, &home);
        let mut log = String::new();
        unread.unwrap().read_to_string(&mut log).unwrap();
        // A pipe holds 64 KiB, and of its last page not all.
        assert!(log.len() >= 60_000, "a pipe was full: {}", log.len());
    }

    /// Dialogs of which a log is longer than any pipe.
    const UNREAD: usize = 1_000;

    /// A server with a browser of its own, on which a dialog is open, and the folder that its profile is in.
    fn launched(name: &str) -> (Child, PathBuf) {
        let home = home(name);
        let mut server = mcp(&home).spawn().unwrap();
        let held = ask(&mut server, &evaluate("confirm('?')"));
        assert!(held.contains("dialog_opened"), "{held}");
        assert!(profile(&home).is_some(), "a profile in {}", home.display());
        (server, home)
    }

    fn home(name: &str) -> PathBuf {
        let home = std::env::temp_dir().join(format!("cdp-mcp-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&home).unwrap();
        home
    }

    fn mcp(home: &Path) -> Command {
        let mut command = Command::new(built_command());
        command.args(["mcp", "--launch", "--no-journal"]).env("TMPDIR", home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }

    /// The answer to what is asked first.
    fn ask(server: &mut Child, request: &str) -> String {
        for message in [INITIALIZE, INITIALIZED] {
            writeln!(server.stdin.as_mut().unwrap(), "{message}").unwrap();
        }
        again(server, request)
    }

    /// One byte after the other: what comes behind the answer is for the next.
    fn again(server: &mut Child, request: &str) -> String {
        writeln!(server.stdin.as_mut().unwrap(), "{request}").unwrap();
        let lines = BufReader::with_capacity(1, server.stdout.as_mut().unwrap()).lines();
        lines.map(Result::unwrap).find(|line| line.contains(r#""id":2"#)).expect("an answer")
    }

    fn ends_without_a_trace(mut server: Child, home: &Path) {
        let status = server.wait().unwrap();
        assert_eq!(status.code(), Some(0));
        assert_eq!(profile(home), None);
        let running = Command::new("ps").args(["-A", "-o", "args"]).output().unwrap();
        let running = String::from_utf8_lossy(&running.stdout).into_owned();
        let left: Vec<_> = running.lines().filter(|line| line.contains(&*home.to_string_lossy())).collect();
        assert!(left.is_empty(), "{left:?}");
        std::fs::remove_dir_all(home).unwrap();
    }

    /// The browser's own folders of sockets are beside it; those it leaves behind when it is killed.
    fn profile(home: &Path) -> Option<PathBuf> {
        let mut entries = std::fs::read_dir(home).unwrap().map(|entry| entry.unwrap().path());
        entries.find(|path| !path.file_name().unwrap().to_string_lossy().starts_with("org.chromium."))
    }

    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

    fn evaluate(expression: &str) -> String {
        let params = json!({"name": "browser_eval", "arguments": {"expression": expression}});
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params}).to_string()
    }

    async fn launch() -> Running {
        Launch::new(browser()).start().await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The client's own assertions decide; what it says is shown when one fails.
    fn run(client: &mut Command, browser: &Running) {
        let output = client.arg(built_command()).arg(browser.ws_url()).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{client:?} ended with {}\n{out}\n{err}", output.status);
        assert!(out.contains("told_after_ms"), "{out}");
        println!("{out}");
    }

    fn must(command: &mut Command, what: &str) {
        let output =
            command.output().unwrap_or_else(|error| panic!("{what}: cannot start {command:?}: {error}"));
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{what} failed: is it out of reach? {command:?}: {err}");
    }
}

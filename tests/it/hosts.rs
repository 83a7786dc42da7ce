//! The examples for hosts do what they say: each is run as its reader would.

mod browser {
    use std::io::{BufRead as _, BufReader};
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};

    use integration_tests::{Alone, build_folder, built_command, python_client};
    use supervisor::{EvalOptions, Options, Supervisor};

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    /// An example of the library, up to date with the sources.
    fn rust_example(name: &str) -> PathBuf {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "supervisor", "--example", name]);
        assert!(build.status().unwrap().success(), "the example {name} does not build");
        build_folder().join("examples").join(name)
    }

    fn said(command: &mut Command) -> String {
        let output = command.output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{command:?} ended with {}\n{out}\n{err}", output.status);
        out.into_owned()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_rust_host_dismisses_what_another_client_provokes() {
        let alone = Alone::new().await;
        let mut host = Command::new(rust_example("host"));
        let mut host = host.arg(alone.browser.http_url()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(host.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut until =
            |part: &str| lines.find(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part}"));
        until(r#""status": "connected""#);

        let supervisor = Supervisor::start();
        let other =
            supervisor.get_or_start("other", alone.browser.ws_url(), Options::default()).await.unwrap();
        let asking = "setTimeout(() => document.title = confirm('Sure?'), 0), 1";
        other.eval(None, asking, EvalOptions::default()).await.unwrap();
        assert!(until("says").ends_with(r#"d-1 says "Sure?""#));
        until("dismissed");
        interrupt(&mut host);
        until("stopping");
        assert!(host.wait().unwrap().success());
        supervisor.stop_all().await;
        alone.end().await;
    }

    fn interrupt(child: &mut Child) {
        let pid = rustix::process::Pid::from_child(child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_hosts_own_snapshot_gets_the_dialogs_and_frames() {
        let alone = Alone::new().await;
        let said = said(Command::new(rust_example("merge")).arg(alone.browser.http_url()));
        alone.end().await;
        assert!(said.starts_with("nothing is connected: {\"tree\":\"- button \\\"Delete\\\"\"}\n"), "{said}");
        let (_, open) = said.split_once("a dialog is open: ").unwrap();
        let (open, answered) = open.split_once("answered: ").unwrap();
        let merged: serde_json::Value = serde_json::from_str(open).unwrap();
        assert_eq!(merged["tree"], "- button \"Delete\"");
        assert_eq!(merged["pending_dialogs"][0]["message"], "Delete all 3 files?");
        assert!(merged["frame_tree"]["top"]["frame_id"].is_string(), "{merged}");
        assert_eq!(answered.trim(), "[]");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_python_host_answers_on_the_way() {
        let alone = Alone::new().await;
        let mut host = Command::new(python_client());
        host.arg(root().join("docs/examples/host.py")).arg(alone.browser.http_url());
        let said =
            said(host.env("CDP_SUPERVISOR", built_command()).env("CDP_SUPERVISOR_JOURNAL_ENABLED", "false"));
        alone.end().await;
        for part in [
            "tools: 10",
            "dialog_opened: confirm 'Delete all 3 files?' -> {'action': 'dismiss'}",
            "dialog_opened: prompt 'Name of the new folder?' -> {'action': 'accept', 'prompt_text': 'Invoices'}",
            "dialog_opened: alert 'Your session is about to expire.' -> {'action': 'accept'}",
            "the script returned [False, 'Invoices']",
            "closed by ['agent', 'agent', 'agent']",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_shell_host_answers_by_the_clients_of_a_server() {
        let alone = Alone::new().await;
        let home = tempfile::tempdir().unwrap();
        let commands = built_command().parent().unwrap().display();
        let path = format!("{commands}:{}", std::env::var("PATH").unwrap());
        let mut host = Command::new("sh");
        host.arg(root().join("docs/examples/host.sh")).arg(alone.browser.http_url()).current_dir(&home);
        let said = said(host.env("PATH", path).env("HOME", home.path()).env("TMPDIR", home.path()));
        alone.end().await;
        for part in [
            "held: c-1",
            "prompt \"Name of the new folder?\"",
            "accepted with \"Invoices\"",
            "the page got \"Invoices\"",
            "\n42\n",
            "exit code 1",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let left: Vec<_> =
            std::fs::read_dir(&home).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == ".local"), "{left:?}");
    }
}

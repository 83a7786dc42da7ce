//! Other MCP servers beside ours on one browser, and MCP Inspector: each from its registry. The table in `docs/guide.md` is
//! what was measured here.

mod browser {
    use std::path::Path;
    use std::process::Command;
    use std::sync::{Mutex, PoisonError};

    use chromium_launcher::{Launch, Running};
    use integration_tests::{
        browser, built_command, is_headless_shell, major_version, node_project, not_run,
    };
    use serde_json::Value;

    /// Set, the table is written instead of compared.
    const UPDATE: &str = "UPDATE_DOCS";

    /// One at a time changes the table.
    static TABLE: Mutex<()> = Mutex::new(());

    #[tokio::test(flavor = "multi_thread")]
    async fn playwrights_server_is_stuck_by_dialogs_until_ours_answers() {
        assert_eq!(cases("playwright").await, ["a dialog from before it came", "a dialog in a popup"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_devtools_server_is_stuck_by_dialogs_until_ours_answers() {
        if major_version(&browser().version) <= 111 {
            return not_run("the other server finds no page in a browser as old as that");
        }
        let mut held = vec!["a dialog from before it came"];
        if !is_headless_shell() {
            held.push("a dialog in the first script of a page that it opens");
        }
        assert_eq!(cases("devtools").await, held);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_inspector_lists_and_calls_the_tools() {
        let browser = launch().await;
        let tools = inspect(&browser, &["--method", "tools/list"]);
        let evaluate = |tool: &Value| tool["name"] == "browser_eval" && tool["outputSchema"].is_object();
        assert!(tools["tools"].as_array().unwrap().iter().any(evaluate), "{tools}");
        let call = ["--method", "tools/call", "--tool-name", "browser_eval", "--tool-arg", "expression=6*7"];
        let result = inspect(&browser, &call);
        assert_eq!(result["structuredContent"]["value"], 42, "{result}");
        assert_eq!(result["isError"], false);
        browser.stop().await.unwrap();
    }

    /// What was stuck and got free again; the script's own assertions decide. Its rows are shown.
    async fn cases(other: &str) -> Vec<String> {
        let browser = launch().await;
        let mut script = Command::new("node");
        script
            .arg("beside.mjs")
            .arg(other)
            .arg(browser.ws_url().replace("ws://", "http://").split("/devtools").next().unwrap());
        script.arg(built_command()).args(is_headless_shell().then_some("headless-shell"));
        let rows = output(&mut script);
        browser.stop().await.unwrap();
        println!("{rows}");
        let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        if !is_headless_shell() {
            are_in_the_table(&rows);
        }
        rows.iter().map(|row| row["what"].as_str().unwrap().to_owned()).collect()
    }

    /// Times apart, the guide says what was seen.
    #[track_caller]
    fn are_in_the_table(rows: &[Value]) {
        let _alone = TABLE.lock().unwrap_or_else(PoisonError::into_inner);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide.md");
        let guide = std::fs::read_to_string(&path).unwrap();
        let begins = format!("| `{}` ", rows[0]["package"].as_str().unwrap());
        let now: Vec<_> = rows.iter().map(row).collect();
        let there: Vec<_> = guide.lines().filter(|line| line.starts_with(&begins)).collect();
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&path, guide.replacen(&there.join("\n"), &now.join("\n"), 1)).unwrap();
            return;
        }
        let said = |line: &str| line.split('|').take(4).collect::<String>();
        let (now, there): (Vec<_>, Vec<_>) =
            (now.iter().map(|line| said(line)).collect(), there.iter().map(|line| said(line)).collect());
        assert_eq!(now, there, "{}; set {UPDATE}=1 to write it", path.display());
    }

    fn row(row: &Value) -> String {
        let (text, ms) = (|key: &str| row[key].as_str().unwrap(), |key: &str| row[key].as_f64().unwrap());
        let (package, version, what, tool) = (text("package"), text("version"), text("what"), text("tool"));
        let (stuck, ended) = ((ms("stuck_ms") / 1e3).floor(), ms("unstuck_ms") / 1e3);
        let answer = ms("answer_ms");
        format!("| `{package}` {version} | {what} | `{tool}` | > {stuck} s | {answer} ms | {ended:.2} s |")
    }

    fn inspect(browser: &Running, arguments: &[&str]) -> Value {
        let mut inspector = Command::new("node");
        inspector.arg("node_modules/@modelcontextprotocol/inspector/cli/build/cli.js").arg("--cli");
        inspector.arg(built_command()).args(["mcp", "--no-journal", browser.ws_url()]);
        serde_json::from_str(&output(inspector.args(arguments))).unwrap()
    }

    fn output(command: &mut Command) -> String {
        let output = command.current_dir(node_project("servers")).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{command:?} ended with {}\n{out}\n{err}", output.status);
        out.into_owned()
    }

    async fn launch() -> Running {
        Launch::new(browser()).start().await.unwrap_or_else(|error| panic!("{error}"))
    }
}

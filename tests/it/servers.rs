//! Other MCP servers beside ours on one browser, and MCP Inspector: each from its registry.

mod browser {
    use std::process::Command;

    use chromium_launcher::{Launch, Running};
    use integration_tests::{browser, built_command, major_version, node_project};
    use serde_json::Value;

    #[tokio::test(flavor = "multi_thread")]
    async fn playwrights_server_is_stuck_by_dialogs_until_ours_answers() {
        assert_eq!(cases("playwright").await, ["a dialog from before it came", "a dialog in a popup"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_devtools_server_is_stuck_by_dialogs_until_ours_answers() {
        if major_version(&browser().version) <= 111 {
            // The other server finds no page in a browser as old as that.
            return;
        }
        assert_eq!(cases("devtools").await, ["a dialog from before it came"]);
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
        let rows = output(script.arg(built_command()));
        browser.stop().await.unwrap();
        println!("{rows}");
        let row = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        rows.lines().map(|line| row(line)["what"].as_str().unwrap().to_owned()).collect()
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

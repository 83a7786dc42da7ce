//! `docs/guide.md` and the README: their blocks are run as they stand.

use std::path::{Path, PathBuf};

/// The blocks of a document in this language.
fn blocks(document: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(document)).unwrap();
    let begins = format!("```{language}\n");
    text.split(&begins).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What the README shows of the library is in an example, which compiles; comments and blanks apart.
#[test]
fn what_the_readme_embeds_compiles() {
    let example = std::fs::read_to_string(root().join("crates/supervisor/examples/readme.rs")).unwrap();
    let code = |text: &str| -> Vec<String> {
        let lines = text.lines().map(|line| line.split(" //").next().unwrap().trim().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    let (example, shown) = (code(&example), code(&blocks("README.md", "rust").join("\n")));
    assert!(shown.len() > 5, "{shown:?}");
    assert!(example.windows(shown.len()).any(|lines| lines == shown), "{shown:#?}\nis not in\n{example:#?}");
}

mod browser {
    use std::process::{Command, Output};

    use integration_tests::{Alone, McpWire, browser, built_command};
    use serde_json::{Value, json};
    use tempfile::TempDir;

    use super::{blocks, root};
    use crate::transcript::likeness::likeness;

    /// Set, what the commands say is written instead of compared.
    const UPDATE: &str = "UPDATE_DOCS";

    /// What the documents say instead of the folders of a run.
    const RUNTIME: &str = "/run/user/1000";
    const HOME: &str = "/var/lib/me";

    /// A folder in which nobody has a setting, as the reader's home.
    struct Reader {
        home: TempDir,
    }

    impl Reader {
        fn new() -> Self {
            Self { home: tempfile::tempdir().unwrap() }
        }

        fn runs(&self, line: &str) -> Output {
            let path = std::env::var("PATH").unwrap();
            let folder = built_command().parent().unwrap();
            let mut shell = Command::new("sh");
            shell.args(["-c", line]).current_dir(&self.home).env_clear();
            shell.env("PATH", format!("{}:{path}", folder.display())).env("CHROME", browser().path);
            shell.env("HOME", self.home.path()).env("XDG_RUNTIME_DIR", self.runtime());
            shell.output().unwrap()
        }

        fn runtime(&self) -> std::path::PathBuf {
            let folder = self.home.path().join("run");
            std::fs::create_dir_all(&folder).unwrap();
            folder
        }

        /// What it says, both streams, with the folders that the documents name.
        fn hears(&self, line: &str) -> String {
            let output = self.runs(line);
            let said = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
            let said = said.replace(&*self.runtime().to_string_lossy(), RUNTIME);
            said.replace(&*self.home.path().to_string_lossy(), HOME)
        }
    }

    /// Ends the server that was started.
    impl Drop for Reader {
        fn drop(&mut self) {
            let status = self.runs("cdp-supervisor status --json").stdout;
            if let Ok(status) = serde_json::from_slice::<Value>(&status) {
                self.runs(&format!("kill {}", status["pid"]));
            }
        }
    }

    /// A block of a console with what its commands say now.
    fn heard(reader: &Reader, block: &str) -> String {
        let commands = block.lines().filter_map(|line| line.strip_prefix("$ "));
        let parts: Vec<_> = commands.map(|line| format!("$ {line}\n{}", reader.hears(line))).collect();
        parts.join("\n")
    }

    #[test]
    fn the_guide_says_what_its_commands_say() {
        let reader = Reader::new();
        let path = root().join("docs/guide.md");
        for block in blocks("docs/guide.md", "console") {
            let now = heard(&reader, &block);
            if std::env::var_os(UPDATE).is_some() {
                let guide = std::fs::read_to_string(&path).unwrap();
                std::fs::write(&path, guide.replacen(&block, &now, 1)).unwrap();
            } else {
                assert_eq!(likeness(&now), likeness(&block), "set {UPDATE}=1 to write it");
            }
        }
    }

    /// All but the installation, which takes minutes.
    #[test]
    fn what_the_guide_has_the_shell_do_succeeds() {
        let reader = Reader::new();
        let lines: Vec<_> = blocks("docs/guide.md", "sh")
            .iter()
            .flat_map(|block| block.lines().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let (install, rest): (Vec<_>, Vec<_>) =
            lines.iter().partition(|line| line.starts_with("cargo install"));
        assert_eq!((install.len(), rest.len()), (1, 1), "{lines:?}");
        for line in rest {
            let output = reader.runs(line);
            assert!(output.status.success(), "{line}: {output:?}");
        }
    }

    /// Each configuration for MCP clients names a server of ours that works.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_configurations_for_mcp_clients_start_a_server() {
        let alone = Alone::new().await;
        let configurations =
            ["README.md", "docs/guide.md"].map(|it| blocks(it, "json")).concat().into_iter().filter_map(
                |block| {
                    let block: Value = serde_json::from_str(&block).ok()?;
                    block["mcpServers"]["dialogs"].is_object().then(|| block["mcpServers"]["dialogs"].clone())
                },
            );
        let configurations: Vec<_> = configurations.collect();
        assert_eq!(configurations.len(), 3);
        for server in configurations {
            assert_eq!((&server["command"], &server["args"][0]), (&json!("cdp-supervisor"), &json!("mcp")));
            assert_eq!(server["args"][1], "http://127.0.0.1:9222");
            let mut client = McpWire::start(&[alone.browser.http_url()]);
            client.until("browser_snapshot", &json!({}), |content| content["status"] == "connected");
            client.end();
        }
        alone.end().await;
    }
}

//! The built server, used by the official clients of other languages. Each is installed from its registry into a folder
//! below `target`; a registry that is out of reach is a failure that says so.

mod browser {
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::sync::LazyLock;

    use chromium_launcher::{Launch, Running};
    use integration_tests::browser;

    #[tokio::test(flavor = "multi_thread")]
    async fn the_typescript_client_gets_by() {
        let folder = install_typescript();
        let browser = launch().await;
        run(Command::new("node").arg(folder.join("client.mjs")), &browser);
        browser.stop().await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_python_client_gets_by_with_each_protocol() {
        let folder = install_python();
        let browser = launch().await;
        run(Command::new(folder.join("bin/python")).arg(sources().join("client.py")), &browser);
        browser.stop().await.unwrap();
    }

    async fn launch() -> Running {
        Launch::new(browser()).start().await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The client's own assertions decide; what it says is shown when one fails.
    fn run(client: &mut Command, browser: &Running) {
        let output = client.arg(server()).arg(browser.ws_url()).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{client:?} ended with {}\n{out}\n{err}", output.status);
        assert!(out.contains("told_after_ms"), "{out}");
        println!("{out}");
    }

    /// The binary of this build: cargo gives its path only to tests of its own package.
    fn server() -> &'static Path {
        static SERVER: LazyLock<PathBuf> = LazyLock::new(|| {
            must(
                Command::new(env!("CARGO")).args(["build", "--quiet", "--package", "supervisor-cli"]),
                "building it",
            );
            target().join("cdp-supervisor")
        });
        &SERVER
    }

    /// Where this build's binaries are: the test's own one is in `deps` below it.
    fn target() -> PathBuf {
        std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().to_owned()
    }

    fn sources() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp")
    }

    fn install_typescript() -> PathBuf {
        let folder = target().join("mcp-clients/typescript");
        std::fs::create_dir_all(&folder).unwrap();
        // Node looks for packages beside the script.
        std::fs::copy(sources().join("client.mjs"), folder.join("client.mjs")).unwrap();
        once(&folder, "package.json", || {
            std::fs::copy(sources().join("package.json"), folder.join("package.json")).unwrap();
            let mut npm = Command::new("npm");
            npm.args(["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"]);
            must(npm.current_dir(&folder), "installing the TypeScript client from the npm registry");
        });
        folder
    }

    fn install_python() -> PathBuf {
        let folder = target().join("mcp-clients/python");
        std::fs::create_dir_all(&folder).unwrap();
        once(&folder, "requirements.txt", || {
            must(Command::new("python3").args(["-m", "venv"]).arg(&folder), "making a Python environment");
            let mut pip = Command::new(folder.join("bin/python"));
            pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
            must(pip.arg(sources().join("requirements.txt")), "installing the Python client from PyPI");
        });
        folder
    }

    /// Installs unless it was done for the same list of packages.
    fn once(folder: &Path, list: &str, install: impl FnOnce()) {
        let (wanted, mark) = (std::fs::read(sources().join(list)).unwrap(), folder.join(".installed"));
        if std::fs::read(&mark).is_ok_and(|installed| installed == wanted) {
            return;
        }
        install();
        std::fs::write(mark, wanted).unwrap();
    }

    fn must(command: &mut Command, what: &str) {
        let output =
            command.output().unwrap_or_else(|error| panic!("{what}: cannot start {command:?}: {error}"));
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{what} failed: is it out of reach? {command:?}: {err}");
    }
}

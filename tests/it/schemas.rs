//! What recordings replay to is what the published schemas say, by a validator that is not ours.

// It needs no browser, but Python and PyPI, as the tests in modules of this name may.
mod browser {
    use std::path::Path;
    use std::process::Command;

    use integration_tests::{built_command, client_scripts, python_client};

    #[test]
    fn snapshots_and_events_of_all_recordings_fit_the_schemas() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut script = Command::new(python_client());
        script.arg(client_scripts().join("schemas.py")).arg(built_command());
        let output =
            script.arg(root.join("docs/schema")).arg(root.join("fixtures/transcripts")).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{out}\n{err}");
        assert!(out.contains("kinds_of_events"), "{out}");
        println!("{out}");
    }
}

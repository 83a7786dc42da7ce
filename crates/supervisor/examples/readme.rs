//! What the README shows, so that it compiles: `cargo run -p supervisor --example readme`, with a browser on port 9222 that
//! shows a dialog and has an iframe.

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    use supervisor::{Action, DialogChoice, EvalOptions, Options, Supervisor};

    let supervisor = Supervisor::start();
    let task = supervisor.get_or_start("shopping", "http://127.0.0.1:9222", Options::default()).await?;

    let snapshot = task.snapshot(); // from memory: never waits
    for dialog in snapshot.pending_dialogs.iter() {
        println!("{} on {}: {}", dialog.id, dialog.target_id, dialog.message);
    }
    task.respond(DialogChoice::default(), Action::Dismiss).await?; // the only pending one

    let frame = snapshot.frame_tree.children[0].frame_id.clone();
    let title = task.eval(Some(frame), "document.title", EvalOptions::default()).await?; // in that frame, or an error
    supervisor.stop("shopping").await; // answers first, takes a second at most

    println!("{title:?}");
    Ok(())
}

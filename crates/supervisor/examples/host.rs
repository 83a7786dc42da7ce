//! A host built of actors: it watches one browser, prints what happens, and dismisses every dialog.
//!
//! ```sh
//! cargo run -p supervisor --example host -- http://127.0.0.1:9222
//! ```

use supervisor::ractor::{ActorRef, call};
use supervisor::{
    Action, Command, DialogChoice, Endpoint, Event, Observed, RegistryMessage, Supervisor, Task,
};

const TASK: &str = "example";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let url = std::env::args().nth(1).ok_or("give the browser's URL, such as http://127.0.0.1:9222")?;
    let supervisor = Supervisor::start();
    let registry = supervisor.registry();
    let task = connect(&registry, Endpoint::parse(&url)?).await?;
    println!("{}", serde_json::to_string_pretty(&*task.snapshot())?);
    tokio::select! {
        () = watch(&registry, &task) => println!("the task has ended"),
        _ = tokio::signal::ctrl_c() => println!("stopping"),
    }
    call!(registry, |reply| RegistryMessage::Stop { task_id: TASK.into(), reply })?;
    Ok(())
}

async fn connect(
    registry: &ActorRef<RegistryMessage>,
    endpoint: Endpoint,
) -> Result<Task, Box<dyn std::error::Error>> {
    let options = Box::default();
    let start = |reply| RegistryMessage::GetOrStart { task_id: TASK.into(), endpoint, options, reply };
    Ok(call!(registry, start)??)
}

/// Prints each event. A host that was too slow looks at the snapshot, which has everything that is still open.
async fn watch(registry: &ActorRef<RegistryMessage>, task: &Task) {
    let mut events = task.events();
    while let Some(observed) = events.recv().await {
        match observed {
            Observed::Event(recorded) => {
                println!("{:>5} {:?} {:?}", recorded.seq, recorded.at, recorded.event);
                if matches!(recorded.event, Event::DialogOpened { .. }) {
                    dismiss_all(registry, task).await;
                }
            }
            Observed::Lagged(missed) => {
                println!("missed {missed} events");
                dismiss_all(registry, task).await;
            }
        }
    }
}

async fn dismiss_all(registry: &ActorRef<RegistryMessage>, task: &Task) {
    for dialog in task.snapshot().pending_dialogs.iter() {
        println!("      {} says {:?}", dialog.id, dialog.message);
        let choice = DialogChoice { dialog_id: Some(dialog.id), ..DialogChoice::default() };
        let command = Box::new(Command::Respond { choice, action: Action::Dismiss });
        match call!(registry, |reply| RegistryMessage::Ask { task_id: TASK.into(), command, reply }) {
            Ok(Ok(_)) => println!("      dismissed"),
            Ok(Err(failure)) => println!("      {failure}"),
            Err(error) => println!("      {error}"),
        }
    }
}

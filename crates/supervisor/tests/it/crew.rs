//! What becomes of a task whose actors fail.

use supervisor::{Code, Place, Status};

use crate::life::{connected, pending};
use crate::peer::{LIMIT, Peer, within};

#[tokio::test]
async fn a_killed_actor_is_replaced_and_the_task_goes_on() {
    let mut peer = Peer::start().await;
    let (supervisor, task, connection) = connected(&mut peer).await;
    connection.opens_dialog("alert", "before");
    pending(&task, 1).await;
    let actors = supervisor.registry().get_cell().get_children();
    assert_eq!(actors.len(), 2, "task, connection");
    for actor in actors {
        actor.kill();
        actor.wait(Some(LIMIT)).await.unwrap();
        // Whichever it was: the connection is made anew, and works.
        let mut connection = peer.connection().await;
        task.wait_for(|snapshot| snapshot.status.status == Status::Connected, LIMIT).await.unwrap();
        let call = task.call(Place::Active, "DOM.getDocument", "{}", None);
        let (result, ()) = tokio::join!(within(call), async {
            let command = connection.command("DOM.getDocument").await;
            connection.reply(&command, &serde_json::json!({}));
        });
        result.unwrap();
    }
    let snapshot = task.snapshot();
    assert_eq!(snapshot.recent_dialogs.len(), 1, "nothing that was known is lost");
    assert_eq!(snapshot.counts.meters.faults, 2);
}

#[tokio::test]
async fn a_task_whose_actors_fail_too_often_is_given_up() {
    let mut peer = Peer::start().await;
    let (supervisor, task, _connection) = connected(&mut peer).await;
    let registry = supervisor.registry().get_cell();
    for _ in 0..supervisor::limits::FAULTS {
        let newest = registry.get_children().into_iter().max_by_key(|actor| actor.get_id().pid());
        let Some(actor) = newest else { break };
        actor.kill();
        actor.wait(Some(LIMIT)).await.unwrap();
        // A message to the registry comes after the news of the actor's end.
        supervisor.tasks().await;
    }
    let failed = task.wait_for(|snapshot| snapshot.status.status == Status::Failed, LIMIT).await.unwrap();
    assert!(failed.status.reason.as_deref().unwrap().contains("faults"));
    let failure = task.call(Place::Active, "DOM.getDocument", "{}", None).await.unwrap_err();
    assert_eq!(failure.code, Code::NotConnected);
    let again =
        within(supervisor.get_or_start("t", &peer.url(), supervisor::Options::default())).await.unwrap();
    assert_eq!(again.snapshot().status.status, Status::Connected);
}

//! Watches a task and tells of what an agent should hear: dialogs, and the connection.

use std::sync::{Arc, Weak};

use supervisor::{DialogId, DialogView, Event, EventStream, Observed, Snapshot, Task};

use crate::hub::Hub;
use crate::limits::NOTICE_WAITS;
use crate::notice::Notice;

/// Watches until the task has ended.
pub(crate) fn begin(hub: &Arc<Hub>, task: Task) {
    let events = task.events();
    let seen = task.snapshot();
    tokio::spawn(follow(Arc::downgrade(hub), task, events, seen));
}

async fn follow(hub: Weak<Hub>, task: Task, mut events: EventStream, seen: Arc<Snapshot>) {
    for dialog in seen.pending_dialogs.iter() {
        tell(&hub, Notice::dialog_opened(task.task_id(), dialog));
    }
    while let Some(observed) = events.recv().await {
        match observed {
            // The snapshot had it.
            Observed::Event(event) if event.seq <= seen.version => {}
            Observed::Event(event) => {
                if let Some(notice) = notice(&task, &event.event).await {
                    tell(&hub, notice);
                }
            }
            Observed::Lagged(count) => tell(&hub, Notice::missed(count)),
        }
        if hub.strong_count() == 0 {
            return;
        }
    }
    if let Some(hub) = hub.upgrade() {
        hub.ended().await;
    }
}

fn tell(hub: &Weak<Hub>, notice: Notice) {
    if let Some(hub) = hub.upgrade() {
        hub.tell(notice);
    }
}

async fn notice(task: &Task, event: &Event) -> Option<Notice> {
    let id = task.task_id();
    Some(match event {
        Event::DialogOpened { id: dialog, .. } => {
            Notice::dialog_opened(id, &shown(task, *dialog, any).await?)
        }
        Event::DialogEnded { id: dialog, .. } => {
            Notice::dialog_closed(id, &shown(task, *dialog, ended).await?)
        }
        Event::Connected { .. } => Notice::connected(id),
        Event::ConnectionLost { reason, .. } => Notice::connection_lost(id, reason),
        Event::Failed { failure } => Notice::failed(id, &failure.message),
        _ => return None,
    })
}

/// The dialog as the snapshot shows it, which is published just after the event. With very many dialogs at once it may be
/// gone from there by now.
async fn shown(task: &Task, id: DialogId, wished: fn(&DialogView) -> bool) -> Option<DialogView> {
    let find = |snapshot: &Snapshot| {
        let mut all = snapshot.pending_dialogs.iter().chain(snapshot.recent_dialogs.iter());
        all.rfind(|dialog| dialog.id == id && wished(dialog)).cloned()
    };
    match task.wait_for(|snapshot| find(snapshot).is_some(), NOTICE_WAITS).await {
        Ok(snapshot) => find(&snapshot),
        Err(_) => find(&task.snapshot()),
    }
}

fn any(_: &DialogView) -> bool {
    true
}

fn ended(dialog: &DialogView) -> bool {
    dialog.closed_by.is_some()
}

//! What the events of a task are counted as.

use supervisor::Event;
use supervisor::supervisor_core::dialog::Source;
use supervisor::supervisor_core::guard::GuardEvent;

/// Names an event, if it is one that is counted. Some count twice: what ended, and how.
pub(super) fn of_event(event: &Event, mut name: impl FnMut(String)) {
    match event {
        Event::DialogOpened { dialog, .. } => {
            name("dialog opened".to_owned());
            let source = if dialog.source == Source::Bridge { "bridge" } else { "native" };
            name(format!("dialog opened: {:?} ({source})", dialog.kind));
        }
        Event::DialogEnded { by, .. } => {
            name("dialog ended".to_owned());
            name(format!("dialog ended: by {by:?}"));
        }
        Event::PageAttached { opener, .. } => {
            name("page attached".to_owned());
            if opener.is_some() {
                name("popup attached".to_owned());
            }
        }
        Event::Guard(event) => {
            if let Some(guard) = guard(event) {
                name(format!("guard: {guard}"));
            }
        }
        Event::DialogReasonKnown { reason, .. } => name(format!("dialog reason: {reason:?}")),
        Event::PageBlocked { why, .. } => name(format!("page blocked: {why:?}")),
        Event::Failed { failure } => name(format!("task failed: {:?}", failure.code)),
        other => {
            if let Some(plain) = plain(other) {
                name(plain.to_owned());
            }
        }
    }
}

fn guard(event: &GuardEvent) -> Option<&'static str> {
    Some(match event {
        GuardEvent::Opened { .. } => "opened",
        GuardEvent::Lost { .. } => "lost",
        GuardEvent::Carries { .. } => "dialog carried",
        GuardEvent::Unsuited { .. } => "given up",
        _ => return None,
    })
}

fn plain(event: &Event) -> Option<&'static str> {
    Some(match event {
        Event::Connected { .. } => "connected",
        Event::ConnectionLost { .. } => "connection lost",
        Event::IframeAttached { .. } => "iframe attached",
        Event::SessionGone { .. } => "session gone",
        Event::SessionCrashed { .. } => "crash",
        Event::SessionRevived { .. } => "revived after a crash",
        Event::PageFreed { .. } => "page freed",
        Event::FrameAttached { .. } => "frame attached",
        Event::FrameNavigated { .. } => "frame navigated",
        Event::FrameSwappedOut { .. } => "frame moved to a process of its own",
        Event::FrameGone { .. } => "frame gone",
        Event::OrphanWaits { .. } => "frame between two processes",
        Event::CallStarted { .. } => "call started",
        Event::CallInterrupted { .. } => "call interrupted by a dialog",
        Event::CallEnded { .. } => "call ended",
        Event::LateResultKept { .. } => "late result kept",
        Event::ConsoleGathered { .. } => "console gathered",
        _ => return None,
    })
}

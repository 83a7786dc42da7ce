//! Long calls say that they are at work, to clients that asked for it.

use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use rmcp::{Peer, RoleServer};
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use crate::limits::PROGRESS_EVERY;

/// Waits for the result, and meanwhile says how many seconds have passed.
pub(crate) async fn during<T>(context: &RequestContext<RoleServer>, result: impl Future<Output = T>) -> T {
    let Some(token) = context.meta.get_progress_token() else { return result.await };
    let first =
        ProgressNotificationParam::new(token, 0.0).with_message("still at work; seconds passed so far");
    tokio::select! {
        biased;
        result = result => result,
        never = tell(&context.peer, first) => never,
    }
}

async fn tell<T>(peer: &Peer<RoleServer>, mut progress: ProgressNotificationParam) -> T {
    let start = Instant::now();
    let mut ticks = interval_at(start + PROGRESS_EVERY, PROGRESS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        progress.progress = start.elapsed().as_secs_f64();
        // A client that is gone cancels the call in another way.
        let _ = peer.notify_progress(progress.clone()).await;
    }
}

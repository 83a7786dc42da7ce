//! The actor with the one sleep of a task. Its mailbox holds nothing else, so no flood delays a deadline.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use supervisor_core::At;
use tokio::task::JoinHandle;
use tokio::time::sleep_until;

use crate::slot::Slot;
use crate::task::TaskMessage;

pub(crate) enum WatchdogMessage {
    /// Wake the task at this moment, and no longer at an earlier one.
    Arm(At),
    /// The sleep with this number is over.
    Over(u64),
}

pub(crate) struct WatchdogActor;

pub(crate) struct WatchdogState {
    slot: Arc<Slot>,
    /// Each sleep has a number: one that was replaced may already be in the mailbox.
    generation: u64,
    sleep: Option<JoinHandle<()>>,
}

impl Actor for WatchdogActor {
    type Msg = WatchdogMessage;
    type State = WatchdogState;
    type Arguments = Arc<Slot>;

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        slot: Arc<Slot>,
    ) -> Result<WatchdogState, ActorProcessingErr> {
        Ok(WatchdogState { slot, generation: 0, sleep: None })
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: WatchdogMessage,
        state: &mut WatchdogState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WatchdogMessage::Arm(at) => state.arm(myself, at),
            WatchdogMessage::Over(generation) => state.over(generation),
        }
        Ok(())
    }
}

impl WatchdogState {
    fn arm(&mut self, myself: ActorRef<WatchdogMessage>, at: At) {
        self.cancel();
        self.generation += 1;
        let (generation, moment) = (self.generation, self.slot.clock.instant(at));
        self.sleep = Some(tokio::spawn(async move {
            sleep_until(moment).await;
            let _ = myself.cast(WatchdogMessage::Over(generation));
        }));
    }

    fn over(&mut self, generation: u64) {
        if generation == self.generation {
            self.slot.tell(TaskMessage::Wake);
        }
    }

    fn cancel(&mut self) {
        if let Some(sleep) = self.sleep.take() {
            sleep.abort();
        }
    }
}

impl Drop for WatchdogState {
    fn drop(&mut self) {
        self.cancel();
    }
}

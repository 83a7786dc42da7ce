//! What goes on at once in a round: the scenes of each tab, the answers of another client, and the cuts.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use supervisor::{Action, DialogChoice, DialogView};
use tokio::time::{sleep, timeout};

use super::counts::Counts;
use super::hand::Hand;
use super::scene::{Scene, Set};
use super::wire::Cut;
use super::world::{Tab, World};

/// Longer than the watchdog waits.
const RESCUE_AFTER: Duration = Duration::from_secs(4);

/// Plays one tab's scenes until the round ends.
pub(super) async fn play(
    world: &World,
    counts: &Counts,
    tab: &Tab,
    turn: &mut usize,
    end: Instant,
    pace: Duration,
) {
    let hand = Hand { task: world.task.clone(), target: tab.target.clone() };
    let url = |host: &str, path: &str| world.pages.url(host, path);
    let set = Set { hand, url: &url, counts };
    while Instant::now() < end && world.is_alive() {
        let scene = Scene::at(*turn);
        *turn += 1;
        if !scene.suits(tab.role) {
            continue;
        }
        let next = Instant::now() + pace;
        match set.play(scene).await {
            Ok(()) => counts.add(format!("scene: {scene:?}")),
            Err(error) => {
                counts.add(format!("scene given up: {scene:?}"));
                eprintln!("given up: {scene:?} for {:?}: {error:#}", tab.role);
                let _ = set.hand.free(&set.url("a.test", "/rest")).await;
            }
        }
        sleep(next.min(end).saturating_duration_since(Instant::now())).await;
    }
}

/// Dismisses, as another client, what the watched process could not answer: a dialog that was open when the line was cut.
pub(super) async fn rescue(world: &World, counts: &Counts) {
    loop {
        sleep(RESCUE_AFTER / 8).await;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let snapshot = world.task.snapshot();
        let is_old = |dialog: &&DialogView| now - dialog.opened_at > RESCUE_AFTER.as_secs_f64();
        for dialog in snapshot.pending_dialogs.iter().filter(is_old) {
            let choice = DialogChoice { dialog_id: Some(dialog.id), target_id: None };
            if world.task.respond(choice, Action::Dismiss).await.is_ok() {
                counts.add("dialog rescued");
            }
        }
    }
}

/// Cuts the line as long as there is time to come back before the rest.
pub(super) async fn cut(world: &World, counts: &Counts, end: Instant, every: Duration) {
    let left = || end.saturating_duration_since(Instant::now());
    while left() > every {
        // Never at the same place of a round.
        let jitter = every / 10 * u32::try_from(world.wire.cuts() % 5).unwrap_or(0);
        sleep(every / 2 + jitter).await;
        let what = Cut::at(world.wire.cuts());
        world.wire.cut(what);
        counts.add(format!("cut: {what:?}"));
        let _ = timeout(left().min(every / 2), sleep(every / 2)).await;
    }
}

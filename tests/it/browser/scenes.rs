//! Live is replay: each scene is played, recorded and journalled, and its recording gives what was seen.

use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt, StreamExt, stream};
use integration_tests::scenes::{Scene, agree, play, scenes};

/// Scenes at once: as many as there may be browsers.
const AT_ONCE: usize = 2;

/// The scenes name the browsers that they need, so a run on a certain one has nothing to add.
fn is_on_a_certain_browser() -> bool {
    std::env::var_os("CDP_SUPERVISOR_BROWSER").is_some_and(|name| !name.is_empty())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_of_each_scene_is_the_live_run() {
    let scenes = if is_on_a_certain_browser() { Vec::new() } else { chosen() };
    let outcomes = stream::iter(&scenes).map(outcome).buffer_unordered(AT_ONCE);
    let failures: Vec<String> = outcomes.filter_map(async |outcome| outcome.err()).collect().await;
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), scenes.len(), failures.join("\n"));
}

/// All of them, or those whose names contain `CDP_SUPERVISOR_SCENE`.
fn chosen() -> Vec<Scene> {
    let part = std::env::var("CDP_SUPERVISOR_SCENE").unwrap_or_default();
    let has_it =
        |scene: &Scene| scene.browser().is_none_or(|name| chromium_launcher::find_named(name).is_ok());
    scenes().into_iter().filter(|scene| scene.name.contains(&part) && has_it(scene)).collect()
}

async fn outcome(scene: &Scene) -> Result<(), String> {
    let since = std::time::Instant::now();
    let played = AssertUnwindSafe(play(scene)).catch_unwind().await;
    let agreed = match played {
        Ok(played) => agree(scene, &played).map(|replayed| replayed.events.len()),
        Err(panic) => Err(said(&*panic)),
    };
    println!(
        "{}: {:?} in {:.1} s",
        scene.name,
        agreed.as_ref().map_err(|_| "failed"),
        since.elapsed().as_secs_f64()
    );
    agreed.map(drop).map_err(|error| format!("{}: {error}", scene.name))
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

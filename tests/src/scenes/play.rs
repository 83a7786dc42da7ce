//! Plays a scene with a browser of its own, recorded and journalled.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chromium_launcher::{Launch, find, find_named};
use supervisor::journal::{Bounds, Journal, Keeper, SledJournal};
use supervisor::{
    Bridge, EventStream, Observed, Options, Recorded, Snapshot, StartOptions, Supervisor, Task,
};

use super::{Scene, Set, Way};
use crate::command::build_folder;
use crate::dismissing_proxy::DismissingProxy;
use crate::proxy::Proxy;
use crate::stage::{Stage, patience};

/// What a scene left behind.
pub struct Played {
    /// The recording.
    pub recording: Vec<u8>,
    /// Which browser it was.
    pub browser: String,
    /// What a subscriber was told from the start of the task to its end.
    pub told: Vec<Recorded>,
    /// What the journal kept.
    pub kept: Vec<Recorded>,
    /// The snapshots that somebody saw who looked at each; the last is that of the end.
    pub seen: Vec<Arc<Snapshot>>,
}

/// Plays it.
///
/// # Panics
/// When it does not go as it should.
pub async fn play(scene: &Scene) -> Played {
    let folder = folder(scene);
    let mut set = set_up(scene).await;
    (scene.before)(&mut set).await;
    let (recording, journal) = (folder.join("recording.cdp.jsonl"), folder.join("journal"));
    let (keeper, thread) = Keeper::start(SledJournal::open(&journal, Bounds::default()).unwrap()).unwrap();
    let mut options = StartOptions::from(Options::default());
    (scene.options)(&mut options.options);
    options.recording = Some(recording.clone().into());
    options.journal = Some(keeper);
    let url = way_to(scene.way, &mut set).await;
    set.stage.rejoin(&url, options).await;
    let watching = watch(&set.task);
    let task = set.task.clone();
    set.until(|it| !it.pages.is_empty()).await;
    (scene.acts)(&mut set).await;
    let browser = set.browser.version().to_owned();
    end(set).await;
    let (told, mut seen) = watching.ended().await;
    seen.push(task.snapshot());
    seen.dedup();
    drop(task);
    tokio::task::spawn_blocking(|| thread.join().unwrap()).await.unwrap();
    Played { recording: std::fs::read(recording).unwrap(), browser, told, kept: kept(&journal), seen }
}

/// Empty. What was recorded last stays there, for whoever looks into a scene that fails.
fn folder(scene: &Scene) -> PathBuf {
    let folder = build_folder().join("scenes").join(scene.name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A browser, and a task that is not recorded, for what comes before.
async fn set_up(scene: &Scene) -> Set {
    let found = match scene.browser() {
        Some(name) => find_named(name),
        None => find(),
    };
    let found = found.unwrap_or_else(|error| panic!("{error}"));
    // A renderer that appears is the new page's: none is kept in reserve.
    let launch = Launch::new(found).arg("--disable-features=SpareRendererForSitePerProcess");
    let mut options = Options::default();
    options.bridge = Bridge::Off;
    let stage = Stage::launched(launch, (scene.site)(), options).await;
    Set { stage, wire: None, backend: None, other: None }
}

async fn way_to(way: Way, set: &mut Set) -> String {
    let url = set.browser.ws_url().to_owned();
    let (server, path) = url.split_once("/devtools/").unwrap();
    match way {
        Way::Straight => url,
        Way::Page => format!("{server}/devtools/page/{}", set.page().target_id),
        Way::Wire => {
            let port = server.rsplit_once(':').unwrap().1.parse().unwrap();
            set.wire = Some(Proxy::to(port).await);
            set.wire().through(&format!("{server}/devtools/{path}"))
        }
        Way::Dismissing => {
            let backend = DismissingProxy::to(&url).await;
            let url = backend.url().to_owned();
            set.backend = Some(backend);
            url
        }
    }
}

async fn end(set: Set) {
    let Set { stage, wire, backend, other } = set;
    stage.supervisor.stop_all().await;
    drop((other, wire, backend));
    let Stage { browser, pages, supervisor, .. } = stage;
    drop::<Supervisor>(supervisor);
    // A scene may have ended it.
    let _ = browser.stop().await;
    pages.stop().await;
}

/// Reads everything that the task tells, as it tells it.
struct Watching {
    told: tokio::task::JoinHandle<Vec<Recorded>>,
    seen: tokio::task::JoinHandle<Vec<Arc<Snapshot>>>,
}

fn watch(task: &Task) -> Watching {
    let stream = task.events();
    let task = task.clone();
    Watching { told: tokio::spawn(listen(stream)), seen: tokio::spawn(look(task)) }
}

impl Watching {
    async fn ended(self) -> (Vec<Recorded>, Vec<Arc<Snapshot>>) {
        let ended = async { (self.told.await.unwrap(), self.seen.await.unwrap()) };
        tokio::time::timeout(patience(), ended).await.expect("a task that has stopped tells nothing more")
    }
}

async fn listen(mut stream: EventStream) -> Vec<Recorded> {
    let mut told = Vec::new();
    while let Some(observed) = stream.recv().await {
        match observed {
            Observed::Event(event) => told.push((*event).clone()),
            Observed::Lagged(missed) => panic!("{missed} events were missed"),
        }
    }
    told
}

async fn look(task: Task) -> Vec<Arc<Snapshot>> {
    let mut seen = Vec::new();
    // Only the end of the task ends this.
    let _ = task
        .wait_for(
            |snapshot| {
                seen.push(Arc::new(snapshot.clone()));
                false
            },
            10 * patience(),
        )
        .await;
    seen
}

fn kept(journal: &Path) -> Vec<Recorded> {
    let journal = SledJournal::open(journal, Bounds::default()).unwrap();
    let run = journal.runs().unwrap().pop().expect("a run");
    let kept = journal.read(run.id).unwrap();
    assert_eq!((kept.unreadable, kept.missing), (0, 0));
    kept.events
}

//! Thousands of tasks, one after the other and some at a time: what the process holds afterwards is what it held before.
//!
//! They run in a process of their own, so that nothing else is counted.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use supervisor::{Code, Options, Place, StartOptions, Supervisor, Task};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::peer::{LIMIT, Peer, within};

/// How many tasks there are.
const TASKS: &str = "CDP_SUPERVISOR_TASKS";

/// Unless it is said.
const FEW: usize = 1_000;

/// Set for the child.
const CHILD: &str = "SUPERVISOR_MANY_CHILD";

/// At a time.
const AT_ONCE: usize = 16;

/// Peers, so that a task can be started elsewhere.
const PEERS: usize = 2;

/// How much more memory may be in use, in percent.
const MORE_PERCENT: u64 = 5;

#[test]
fn thousands_of_tasks_leave_no_handle_no_thread_and_no_memory() {
    if std::env::var_os(CHILD).is_some() {
        return in_the_child();
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "many::thousands_of_tasks_leave_no_handle_no_thread_and_no_memory", "--nocapture"])
        .env(CHILD, "1")
        // What is freed goes back, so that memory is what is held and not what the allocator keeps for later.
        .envs([
            ("MALLOC_ARENA_MAX", "1"),
            ("MALLOC_MMAP_THRESHOLD_", "65536"),
            ("MALLOC_TRIM_THRESHOLD_", "65536"),
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout);
    println!("{said}");
    assert!(child.status.success(), "{said}{}", String::from_utf8_lossy(&child.stderr));
    assert!(said.contains("after all of them"), "{said}");
}

/// What the operating system says of this process.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Held {
    handles: usize,
    threads: usize,
    tokio_tasks: usize,
    memory_kib: u64,
}

impl Held {
    fn now() -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        Self {
            handles: fs::read_dir("/proc/self/fd").unwrap().count(),
            threads: fs::read_dir("/proc/self/task").unwrap().count(),
            tokio_tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(),
            memory_kib: resident.trim().trim_end_matches(" kB").parse().unwrap(),
        }
    }

    /// Once what was begun has ended: the other side closes its sockets when it sees that ours are.
    async fn settled(before: &Self) -> Self {
        let mut held = Self::now();
        let deadline = tokio::time::Instant::now() + LIMIT;
        while (held.handles, held.threads, held.tokio_tasks)
            != (before.handles, before.threads, before.tokio_tasks)
            && tokio::time::Instant::now() < deadline
        {
            tokio::task::yield_now().await;
            held = Self::now();
        }
        held
    }
}

#[cfg(not(target_os = "linux"))]
fn in_the_child() {
    println!("after all of them: not measured on this system");
}

#[cfg(target_os = "linux")]
fn in_the_child() {
    let count = std::env::var(TASKS).map_or(FEW, |count| count.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let mut peers = Vec::new();
        for _ in 0..PEERS {
            peers.push(Peer::start().await);
        }
        let urls: Arc<Vec<String>> = Arc::new(peers.iter().map(Peer::url).collect());
        peers.into_iter().for_each(serve);
        let supervisor = Supervisor::start();
        let before = Held::now();
        // What is made once, and kept.
        let warm_up = count / 5;
        lives(&supervisor, &urls, 0..warm_up).await;
        let warm = Held::settled(&before).await;
        lives(&supervisor, &urls, warm_up..count).await;
        let after = Held::settled(&before).await;
        println!("before the first task: {before:?}");
        println!("after {warm_up} tasks: {warm:?}");
        println!("after all of them, {count}: {after:?}");
        let counted = |held: Held| Held { memory_kib: 0, ..held };
        assert_eq!(counted(after), counted(before));
        let bound = warm.memory_kib * (100 + MORE_PERCENT) / 100;
        assert!(after.memory_kib <= bound, "{} KiB is more than {bound}", after.memory_kib);
        assert!(supervisor.tasks().await.is_empty());
    });
}

/// Takes the connections of a peer; each one has a page that opens a dialog.
fn serve(mut peer: Peer) {
    tokio::spawn(async move {
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                mut connection = peer.next() => {
                    open.spawn(async move { connection.asks().await });
                }
                Some(_) = open.join_next() => {}
            }
        }
    });
}

/// So many lives, some at a time.
async fn lives(supervisor: &Supervisor, urls: &Arc<Vec<String>>, numbers: std::ops::Range<usize>) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut lives = JoinSet::new();
    for number in numbers {
        let place = Arc::clone(&places).acquire_owned().await.unwrap();
        let (supervisor, urls) = (supervisor.clone(), Arc::clone(urls));
        lives.spawn(async move {
            life(&supervisor, &urls, number).await;
            drop(place);
        });
        while let Some(lived) = lives.try_join_next() {
            lived.unwrap();
        }
    }
    while let Some(lived) = lives.join_next().await {
        lived.unwrap();
    }
}

/// Each way to live and to end in turn: every task has a dialog open.
async fn life(supervisor: &Supervisor, urls: &[String], number: usize) {
    let name = format!("task {number}");
    let task = within(supervisor.get_or_start(name.as_str(), &urls[0], Options::default())).await.unwrap();
    let mut events = task.events();
    task.wait_for(|it| !it.pending_dialogs.is_empty(), LIMIT).await.unwrap();
    match number % 5 {
        0 => drop(task.respond(Default::default(), supervisor::Action::Dismiss).await.unwrap()),
        1 => interrupted(&task).await,
        2 => elsewhere(supervisor, &name, &urls[1]).await,
        3 => nowhere(supervisor, &name).await,
        _ => {}
    }
    assert_eq!(supervisor.stop(name.as_str()).await, number % 5 != 3);
    while events.recv().await.is_some() {}
}

/// Stopped while a call is in flight.
async fn interrupted(task: &Task) {
    let task = task.clone();
    tokio::spawn(async move {
        let called = task.call(Place::Active, "Page.getNavigationHistory", "{}", None).await;
        assert_eq!(called.unwrap_err().code, Code::NotConnected);
    });
}

/// Started elsewhere, which stops what runs.
async fn elsewhere(supervisor: &Supervisor, name: &str, url: &str) {
    let task = within(supervisor.get_or_start(name, url, Options::default())).await.unwrap();
    task.wait_for(|it| !it.pending_dialogs.is_empty(), LIMIT).await.unwrap();
}

/// Started where nobody listens, which fails.
async fn nowhere(supervisor: &Supervisor, name: &str) {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("ws://{closed}/devtools/browser/B");
    let started = within(supervisor.get_or_start(name, &url, StartOptions::default())).await;
    assert_eq!(started.unwrap_err().code, Code::StartFailed);
}

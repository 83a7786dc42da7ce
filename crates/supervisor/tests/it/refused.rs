//! A signed URL runs out while a task is connected: each refusal is told apart, and the host's next URL is taken.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use supervisor::{Loss, LossKind, Stage, StartOptions, Status, Supervisor};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::peer::{LIMIT, Peer, within};

/// A server before a peer that, from a moment on, refuses the old token.
struct Gate {
    port: u16,
    refuses: Arc<AtomicBool>,
    refused: Arc<AtomicUsize>,
}

impl Gate {
    async fn before(peer: &Peer, status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (port, peer) = (listener.local_addr().unwrap().port(), peer.port());
        let (refuses, refused) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let (gate, count) = (Arc::clone(&refuses), Arc::clone(&refused));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (gate, count) = (Arc::clone(&gate), Arc::clone(&count));
                tokio::spawn(pass(client, peer, status, gate, count));
            }
        });
        Self { port, refuses, refused }
    }

    fn url(&self, token: &str) -> String {
        format!("ws://127.0.0.1:{}/devtools/browser/B?token={token}", self.port)
    }
}

async fn pass(mut client: TcpStream, peer: u16, status: u16, gate: Arc<AtomicBool>, count: Arc<AtomicUsize>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.unwrap());
    }
    if gate.load(Ordering::SeqCst) && String::from_utf8_lossy(&head).contains("token=old") {
        count.fetch_add(1, Ordering::SeqCst);
        let refusal = format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        return client.write_all(refusal.as_bytes()).await.unwrap();
    }
    let mut browser = TcpStream::connect(("127.0.0.1", peer)).await.unwrap();
    browser.write_all(&head).await.unwrap();
    let _ = copy_bidirectional(&mut client, &mut browser).await;
}

/// The host has no better URL at first, then a fresh one.
async fn a_refusal(status: u16, kind: LossKind, says: &str) {
    let mut peer = Peer::start().await;
    let gate = Gate::before(&peer, status).await;
    let (asked, fresh) = (Arc::<Mutex<Vec<Loss>>>::default(), gate.url("new"));
    let mut options = StartOptions::default();
    let told = Arc::clone(&asked);
    options.renew = Some(Arc::new(move |loss| {
        let given = (loss.kind == kind).then(|| fresh.clone());
        told.lock().unwrap().push(loss);
        Box::pin(async { given })
    }));
    options.refresh = Some(Arc::new(|| panic!("who is told why is asked alone")));
    let supervisor = Supervisor::start();
    let task = within(supervisor.get_or_start("t", &gate.url("old"), options)).await.unwrap();
    let connection = peer.connection().await;
    assert!(asked.lock().unwrap().is_empty(), "the first URL is the one that was given");
    gate.refuses.store(true, Ordering::SeqCst);
    drop(connection);
    let is_refused = |text: &str| text.contains(&status.to_string()) && text.contains(says);
    let refused = task.wait_for(
        |it| {
            it.status.status == Status::Reconnecting
                && it.status.last_error.as_deref().is_some_and(is_refused)
        },
        LIMIT,
    );
    let shown = refused.await.unwrap_or_else(|_| panic!("{status}: {:?}", task.snapshot().status));
    assert!(shown.status.stale);
    assert!(!format!("{:?}", shown.status).contains("token"));
    task.wait_for(|it| it.status.status == Status::Connected, LIMIT).await.unwrap();
    let connection = peer.connection().await;
    assert!(connection.headers[0].contains("token=new"), "{:?}", connection.headers);
    assert_eq!(gate.refused.load(Ordering::SeqCst), 1);
    let asked = asked.lock().unwrap().clone();
    let told: Vec<_> = asked.iter().map(|loss| (loss.kind, loss.http_status, loss.stage)).collect();
    let refused = (kind, Some(status), Some(Stage::Upgrade));
    assert_eq!(told, [(LossKind::Dropped, None, None), refused]);
    assert!(asked[1].message.contains(says) && !asked[1].message.contains("token"), "{asked:?}");
    supervisor.stop_all().await;
}

#[tokio::test]
async fn each_refusal_of_a_reconnect_is_told_apart_and_a_fresh_url_is_taken() {
    tokio::join!(
        a_refusal(401, LossKind::Unauthorized, "credentials"),
        a_refusal(403, LossKind::Forbidden, "forbidden"),
        a_refusal(404, LossKind::NotFound, "closed or restarted"),
        a_refusal(410, LossKind::Gone, "session is over"),
        a_refusal(429, LossKind::TooMany, "too many"),
        a_refusal(503, LossKind::ServerFailed, "server failed"),
    );
}

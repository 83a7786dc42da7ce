//! What is no WebSocket, or a strange one.

use integration_tests::{Manner, dialog_opening, frame, frame_head};
use serde_json::json;
use supervisor::limits::MAX_MESSAGE;
use supervisor::{Code, EvalOptions};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::{Faulted, in_time};

/// FIN and the opcodes of RFC 6455, section 5.2.
const TEXT: u8 = 0x81;
const BINARY: u8 = 0x82;
const PING: u8 = 0x89;
/// Without FIN: more of the message follows.
const FIRST_OF_TEXT: u8 = 0x01;
const MORE: u8 = 0x00;
const LAST: u8 = 0x80;

/// Everything that breaks the WebSocket itself ends the connection with a reason, and calls in flight with it.
#[tokio::test(flavor = "multi_thread")]
async fn bytes_that_are_no_websocket_end_the_connection_and_it_is_made_again() {
    let mut masked = frame(TEXT, b"ab");
    masked[1] |= 0x80;
    let broken: [(&str, Vec<u8>); 9] = [
        ("garbage", vec![0xff; 64]),
        ("http in the middle", b"HTTP/1.1 200 OK\r\n\r\n".to_vec()),
        ("invalid UTF-8", frame(TEXT, b"\xff\xfe{}")),
        ("a surrogate in UTF-8", frame(TEXT, b"\"\xed\xa0\x80\"")),
        ("a reserved bit", frame(TEXT | 0x40, b"{}")),
        ("a reserved opcode", frame(0x83, b"{}")),
        ("a masked frame of a server", [masked, vec![0; 4]].concat()),
        ("a ping that is too long", frame(PING, &[0; 126])),
        ("a continuation of nothing", frame(LAST, b"{}")),
    ];
    let mut faulted = Faulted::start(Manner::NoScripts).await;
    for (what, bytes) in broken {
        let never = faulted.task.eval(None, "forever", EvalOptions::default());
        let cut = async {
            faulted.connection.command("Runtime.evaluate").await;
            faulted.connection.send_raw(bytes);
        };
        let (ended, ()) = in_time(async { tokio::join!(never, cut) }).await;
        assert_eq!(ended.unwrap_err().code, Code::Disconnected, "{what}");
        let reason = faulted.lost().await;
        assert!(reason.starts_with("the socket failed"), "{what}: {reason}");
        faulted.returns().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_broken_bytes_it_serves_again() {
    let mut faulted = Faulted::start(Manner::Browser).await;
    faulted.connection.send_raw(vec![0xff; 64]);
    faulted.loses_and_returns().await;
}

/// A binary message is counted, and is no reason to hang up.
#[tokio::test(flavor = "multi_thread")]
async fn binary_messages_are_counted_and_harm_nothing() {
    let faulted = Faulted::start(Manner::Browser).await;
    faulted.connection.send_raw(frame(BINARY, b"\x00\xff"));
    faulted.connection.send_raw(frame(BINARY, b"{\"method\":\"Page.enable\"}"));
    faulted.serves().await;
    assert_eq!(faulted.violations(), 2);
}

/// A message in pieces, with a ping between them, and one byte a frame.
#[tokio::test(flavor = "multi_thread")]
async fn a_fragmented_message_is_one_message() {
    let faulted = Faulted::start(Manner::Browser).await;
    let params = json!({ "url": "u", "frameId": integration_tests::PAGE, "message": "in pieces – ünï", "type": "alert",
        "hasBrowserHandler": true, "defaultPrompt": "" });
    let method = "Page.javascriptDialogOpening";
    let text =
        json!({ "method": method, "params": params, "sessionId": integration_tests::SESSION }).to_string();
    let (last, others) = text.as_bytes().split_last().unwrap();
    let pieces = others.iter().flat_map(|byte| [frame(MORE, &[*byte]), frame(PING, b"?")].concat());
    // In one write: a reply of the peer between two pieces would break the protocol.
    let message: Vec<u8> =
        frame(FIRST_OF_TEXT, b"").into_iter().chain(pieces).chain(frame(LAST, &[*last])).collect();
    faulted.connection.send_raw(message);
    let shown = faulted.until(|it| !it.pending_dialogs.is_empty()).await;
    assert_eq!(shown.pending_dialogs[0].message, "in pieces – ünï");
    assert_eq!(faulted.violations(), 0);
}

/// `MAX_MESSAGE`: one of exactly that length is read; of a longer one the head is enough to know.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_at_max_message_is_read_and_a_longer_one_ends_the_connection() {
    let mut faulted = Faulted::start(Manner::Browser).await;
    let (before, after) = (r#"{"method":"Nobody.modelsThis","params":{"data":""#, r#""}}"#);
    let filler = "x".repeat(MAX_MESSAGE - before.len() - after.len());
    let text = [before, &filler, after].concat();
    assert_eq!(text.len(), MAX_MESSAGE);
    let unknown = faulted.task.snapshot().counts.meters.unknown_messages;
    faulted.connection.send_text(text);
    faulted.serves().await;
    assert_eq!(faulted.task.snapshot().counts.meters.unknown_messages, unknown + 1);

    faulted.connection.send_raw(frame_head(TEXT, MAX_MESSAGE as u64 + 1));
    let reason = faulted.loses_and_returns().await;
    assert!(reason.contains(&format!("a message of {} bytes", MAX_MESSAGE + 1)), "{reason}");

    faulted.connection.send_raw(frame_head(TEXT, u64::MAX >> 1));
    let reason = faulted.loses_and_returns().await;
    assert!(reason.contains("is longer than"), "{reason}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_close_frame_says_why_and_the_connection_is_made_again() {
    let mut faulted = Faulted::start(Manner::Browser).await;
    let close = CloseFrame { code: CloseCode::Error, reason: "out of memory".into() };
    faulted.connection.send_message(Message::Close(Some(close)));
    let reason = faulted.loses_and_returns().await;
    assert!(reason.contains("code 1011"), "{reason}");
}

/// The end of the stream in the middle of a frame: what came before it was handled.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_ends_inside_a_frame_loses_that_frame_only() {
    let mut faulted = Faulted::start(Manner::Browser).await;
    let mut last = frame(TEXT, dialog_opening("the last whole message").to_string().as_bytes());
    last.extend(&frame(TEXT, &[b' '; 100])[..50]);
    faulted.connection.send_last(last);
    faulted.loses_and_returns().await;
    let recent = &faulted.task.snapshot().recent_dialogs;
    let ended = recent.iter().find(|it| it.message == "the last whole message").unwrap();
    assert_eq!(ended.reason, Some(supervisor::supervisor_core::dialog::Reason::Disconnected));
}

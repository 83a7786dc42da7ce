//! A page that logs objects is not made to keep them by being supervised.

use std::time::Instant;

use integration_tests::{Stage, patience};
use page_server::Site;
use serde_json::json;

/// So many objects are logged; the browser itself keeps the last thousand of them, supervised or not.
const LOGGED: u64 = 4_000;

const LOGS: &str = "<script>
var gone = 0;
const seen = new FinalizationRegistry(() => gone += 1);
function log(kind, count) {
  for (let i = 0; i < count; i += 1) {
    const logged = { i };
    seen.register(logged, i);
    console[kind](logged);
  }
}
</script>";

#[tokio::test(flavor = "multi_thread")]
async fn objects_that_a_page_logs_are_let_go() {
    let stage = Stage::new(Site::new().page("/", LOGS)).await;
    stage.open("a.test", "/").await;
    // Some are kept as entries, some are only counted; the page may forget all of them.
    for (round, kind) in (1..).zip(["log", "error"]) {
        stage.value(None, &format!("log('{kind}', {LOGGED})")).await;
        let wanted = round * LOGGED - LOGGED / 2;
        let since = Instant::now();
        loop {
            stage.call("HeapProfiler.collectGarbage", json!({})).await.unwrap();
            let gone = stage.value(None, "gone").await;
            if gone.as_u64().unwrap() >= wanted {
                break;
            }
            assert!(since.elapsed() < patience(), "{gone} of the objects of {kind} are gone");
        }
    }
    stage.end().await;
}

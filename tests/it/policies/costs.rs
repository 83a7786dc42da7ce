//! What the ways cost: printed, with `--nocapture`, and never judged. Milliseconds, medians.

use std::time::Instant;

use integration_tests::Alone;
use page_server::{PageServer, Site};

use super::way::{Tab, Way};

const TRIES: usize = 5;

/// A loop that counts down from its argument.
const WASM: &str =
    "Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 1, 127, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0,
    10, 16, 1, 14, 0, 3, 64, 32, 0, 65, 1, 107, 34, 0, 13, 0, 11, 11)";

fn pages() -> Site {
    let frames = "<iframe src=/plain></iframe>".repeat(20);
    let scripts = "<script>window.count = (window.count ?? 0) + 1</script>".repeat(400);
    let big = format!("<script>window.began = performance.now()</script><!--{}-->", "x".repeat(2_000_000));
    Site::new().page("/plain", "<p>").page("/frames", &frames).page("/scripts", &scripts).page("/big", &big)
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// What a page costs until it is loaded, and what an expression says then.
async fn costs(alone: &Alone, url: &str, way: Way, expression: &str) -> (f64, f64) {
    let (mut loads, mut values) = (Vec::new(), Vec::new());
    for _ in 0..TRIES {
        let tab = Tab::open(alone, way).await;
        let since = Instant::now();
        tab.shows(url).await;
        loads.push(since.elapsed().as_secs_f64() * 1_000.0);
        values.push(tab.value(expression).await.as_f64().unwrap());
        tab.close().await;
    }
    (median(loads), median(values))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_costs_of_each_way_are_measured() {
    let (alone, pages) = (Alone::new().await, PageServer::start(pages()).await.unwrap());
    let wasm = format!(
        "(() => {{ const f = new WebAssembly.Instance(new WebAssembly.Module({WASM})).exports.f;
            const since = performance.now(); f(3e7); return performance.now() - since }})()"
    );
    let scripts =
        "(() => { const since = performance.now(); let n = 0; for (let i = 0; i < 3e7; i++) n = (n + i) | 0;
        return performance.now() - since + n * 0 })()";
    let table: [(&str, &str, &[Way], &str); 5] = [
        ("a page", "/plain", &[Way::Nothing, Way::BypassCsp, Way::Headers, Way::Body, Way::Debugger], "0"),
        (
            "20 iframes",
            "/frames",
            &[Way::Nothing, Way::BypassCsp, Way::Headers, Way::Body, Way::Debugger],
            "0",
        ),
        ("2 MB, and its first script", "/big", &[Way::Nothing, Way::Headers, Way::Body], "began"),
        ("400 scripts, and WebAssembly", "/scripts", &[Way::Nothing, Way::Debugger], &wasm),
        ("400 scripts, and JavaScript", "/scripts", &[Way::Nothing, Way::Debugger], scripts),
    ];
    for (what, path, ways, expression) in table {
        for way in ways {
            let (load, value) = costs(&alone, &pages.url("127.0.0.1", path), *way, expression).await;
            println!("{what:<30} {way:?}: loaded after {load:.0}, then {value:.0}");
            assert!(load > 0.0 && value >= 0.0);
        }
    }
    alone.end().await;
}

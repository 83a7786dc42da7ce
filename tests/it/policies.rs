//! What could be done about pages whose policies forbid the bridge: each way, on a real browser, as `docs/bridge.md` has it.
//! The supervisor takes none of them; this keeps the reasons true.

mod costs;
mod way;

use integration_tests::Alone;
use page_server::{PageServer, Site};

use way::{Tab, Way};

/// The page's own function, which asks as the bridge does and stops as a `debugger` statement would.
const ASKS: &str = "<script>
    function ask() {
        let answer = 'refused';
        try {
            const request = new XMLHttpRequest();
            request.open('POST', 'https://bridge.invalid/ask', false);
            request.send('');
            answer = request.responseText;
        } catch {}
        debugger;
        return answer;
    }
    window.first = ask();
    </script>";

const CSP: &str = "/csp";
const SYNC_XHR: &str = "/sync-xhr";

fn strict_pages() -> Site {
    Site::new().page_with(CSP, ASKS, &[("Content-Security-Policy", "connect-src 'self'")]).page_with(
        SYNC_XHR,
        ASKS,
        &[("Permissions-Policy", "sync-xhr=()")],
    )
}

/// What the page's first question and one after loading got.
async fn answers(alone: &Alone, pages: &PageServer, way: Way, path: &str) -> [String; 2] {
    let tab = Tab::open(alone, way).await;
    tab.shows(&pages.url("127.0.0.1", path)).await;
    let first = tab.text("first").await;
    tab.begins_late().await;
    let second = tab.text("ask()").await;
    tab.close().await;
    [first, second]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_around_a_policy_does_what_the_docs_say() {
    let (alone, pages) = (Alone::new().await, PageServer::start(strict_pages()).await.unwrap());
    let (no, yes, late) = (["refused"; 2], ["agent"; 2], ["refused", "agent"]);
    let expected = [
        (Way::Nothing, no, no),
        (Way::BypassCsp, yes, no),
        (Way::Headers, no, yes),
        (Way::Body, yes, yes),
        (Way::Debugger, yes, yes),
        (Way::LateDebugger, late, late),
    ];
    for (way, csp, sync_xhr) in expected {
        assert_eq!(answers(&alone, &pages, way, CSP).await, csp, "{way:?}, Content-Security-Policy");
        assert_eq!(answers(&alone, &pages, way, SYNC_XHR).await, sync_xhr, "{way:?}, Permissions-Policy");
    }
    alone.end().await;
}

//! The pages.

use page_server::Site;

/// Pages whose scripts do what a scene tells them. Messages begin with whom they are for.
pub(super) fn site() -> Site {
    Site::new()
        .page("/asks", &page(""))
        .page("/rest", &page(""))
        .page("/swap", &page("<iframe name=f src=/asks></iframe>"))
        .page("/frames", &page("<iframe src='http://b.test:{PORT}/middle'></iframe>"))
        .page(
            "/middle",
            &page("<iframe src='http://c.test:{PORT}/asks'></iframe><iframe src=/asks></iframe>"),
        )
        .page("/popup", POPUP)
        .page("/leaves", &page(LEAVES))
}

fn page(body: &str) -> String {
    format!("<!doctype html><title>soak</title><body>{body}<script>{SCRIPT}</script>")
}

/// `go(kinds, whom)` asks once a kind; `flood(n)` fills the console; `churn(n, url)` adds and removes iframes.
const SCRIPT: &str = "
var done = false, popups = 0;
function go(kinds, whom) {
  done = false;
  setTimeout(() => {
    for (const kind of kinds) window[kind](whom + ': ' + kind, 'default');
    done = true;
  });
}
function flood(n) {
  for (let i = 0; i < n; i += 1) console[['log', 'warn', 'error'][i % 3]]('flood ' + i + ' ' + 'x'.repeat(200), { i });
  done = true;
}
async function churn(n, url) {
  for (let i = 0; i < n; i += 1) {
    const frame = document.createElement('iframe');
    frame.src = i % 5 ? '/asks' : url;
    document.body.append(frame);
    await new Promise(loaded => frame.onload = loaded);
    if (i % 2) frame.remove();
  }
  document.querySelectorAll('iframe').forEach(frame => frame.remove());
  done = true;
}
";

const POPUP: &str = "<!doctype html><title>popup</title><script>
prompt('agent: popup', 'default');
if (opener) opener.popups += 1;
close();
</script>";

const LEAVES: &str = "leaves<script>
const ask = event => { event.preventDefault(); event.returnValue = 'stay' };
addEventListener('beforeunload', ask);
function free() { removeEventListener('beforeunload', ask) }
</script>";

//! The pages of the demo.

use crate::Site;

impl Site {
    /// The pages in `fixtures/pages`, each at its file's name without `.html`; `index.html` is also at `/`.
    pub fn demo() -> Site {
        PAGES.iter().fold(Site::new(), |site, (path, html)| site.page(path, html))
    }
}

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../../fixtures/pages/", $name, ".html"))
    };
}

const PAGES: [(&str, &str); 12] = [
    ("/", fixture!("index")),
    ("/index", fixture!("index")),
    ("/alert", fixture!("alert")),
    ("/confirm", fixture!("confirm")),
    ("/prompt", fixture!("prompt")),
    ("/beforeunload", fixture!("beforeunload")),
    ("/popup", fixture!("popup")),
    ("/popup-prompt", fixture!("popup-prompt")),
    ("/frames", fixture!("frames")),
    ("/frame-b", fixture!("frame-b")),
    ("/frame-c", fixture!("frame-c")),
    ("/loop", fixture!("loop")),
];

//! chromiumoxide, as somebody would use it to accept every dialog.

use std::time::Duration;

use anyhow::{Context, Result};
use chromiumoxide::cdp::browser_protocol::page::{
    EventJavascriptDialogOpening, HandleJavaScriptDialogParams,
};
use chromiumoxide::{Browser, Page};
use clap::Parser;
use futures::StreamExt;
use tokio::task::{JoinHandle, JoinSet};

/// What each contender of the bench gets.
#[derive(Parser)]
struct Args {
    #[arg(long)]
    url: String,
    #[arg(long, default_value_t = 1)]
    conns: usize,
}

#[tokio::main]
async fn main() -> Result<()> {
    let args = Args::parse();
    let mut attaching = JoinSet::new();
    for _ in 0..args.conns {
        attaching.spawn(attach(args.url.clone()));
    }
    let mut attached = Vec::new();
    while let Some(done) = attaching.join_next().await {
        attached.push(done??);
    }
    println!("READY");
    for (_browser, handler) in attached {
        handler.await?;
    }
    Ok(())
}

async fn attach(url: String) -> Result<(Browser, JoinHandle<()>)> {
    let (browser, mut handler) = Browser::connect(url).await?;
    let handler = tokio::spawn(async move { while let Some(Ok(())) = handler.next().await {} });
    let page = first_page(&browser).await?;
    let mut dialogs = page.event_listener::<EventJavascriptDialogOpening>().await?;
    tokio::spawn(async move {
        while dialogs.next().await.is_some() {
            let _ = page.execute(HandleJavaScriptDialogParams::new(true)).await;
        }
    });
    Ok((browser, handler))
}

/// Pages that are there already are found a moment after connecting.
async fn first_page(browser: &Browser) -> Result<Page> {
    for _ in 0..600 {
        if let Some(page) = browser.pages().await?.into_iter().next() {
            return Ok(page);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    None.context("there is no page")
}

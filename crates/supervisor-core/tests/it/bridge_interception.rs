//! The bridge and the interceptions of the host.

use serde_json::json;
use supervisor_core::{Bridge, Command};

use crate::bridge_rig::{bridged, call, options};
use crate::rig::Rig;

#[test]
fn a_hosts_own_interception_is_merged_and_its_requests_are_left_to_it() {
    let mut rig = bridged();
    let images = json!({"urlPattern": "*.png"});
    call(&mut rig, "Fetch.enable", &json!({"patterns": [images]}));
    let merged = rig.sent_as("Fetch.enable").last().unwrap()["params"]["patterns"].clone();
    assert_eq!((merged.as_array().unwrap().len(), &merged[0]), (3, &images));
    let foreign = json!({"requestId": "R9", "frameId": "P", "resourceType": "Image",
        "request": {"url": "http://a.test/x.png", "method": "GET", "headers": {}}});
    rig.event("SP", "Fetch.requestPaused", foreign.clone());
    assert!(rig.sent_as("Fetch.continueRequest").is_empty());
    call(&mut rig, "Fetch.disable", &json!({}));
    let ours = rig.sent_as("Fetch.enable").last().unwrap()["params"]["patterns"].clone();
    assert_eq!(ours.as_array().unwrap().len(), 2);
    assert!(rig.sent_as("Fetch.disable").is_empty());
    rig.event("SP", "Fetch.requestPaused", foreign);
    assert_eq!(rig.sent_as("Fetch.continueRequest").len(), 1, "nobody else would let it go on");
}

#[test]
fn an_interception_from_before_is_kept_when_the_bridge_comes_and_goes() {
    let mut rig = Rig::with_page();
    call(&mut rig, "Fetch.enable", &json!({"patterns": [{"urlPattern": "*.png"}]}));
    rig.host(Command::Configure { options: Box::new(options(Bridge::On)) });
    assert_eq!(
        rig.sent_as("Fetch.enable").last().unwrap()["params"]["patterns"].as_array().unwrap().len(),
        3
    );
    rig.host(Command::Configure { options: Box::new(options(Bridge::Off)) });
    assert_eq!(
        rig.sent_as("Fetch.enable").last().unwrap()["params"],
        json!({"patterns": [{"urlPattern": "*.png"}]})
    );
}

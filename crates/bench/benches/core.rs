//! What the core's hot functions cost: `cargo bench -p bench`.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use bench::ids::SESSION;
use bench::load::{self, LIFE, event};
use bench::recording::{self, EPOCH};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use serde_json::json;
use supervisor_core::{At, Input, Machine};

fn receive(machine: &mut Machine, text: &str) {
    black_box(machine.step(At(1_000), Input::Received { epoch: EPOCH, text }));
}

/// A machine with one page, and so many iframes.
fn machine(frames: usize) -> Machine {
    let mut machine = recording::machine();
    for number in 0..frames {
        receive(&mut machine, &load::attached(number));
        receive(&mut machine, &load::navigated(number));
    }
    machine.snapshot();
    machine
}

fn console(criterion: &mut Criterion) {
    let mut machine = machine(10);
    let chromium = load::console(7);
    criterion.bench_function("console call", |bench| bench.iter(|| receive(&mut machine, &chromium)));
    let kept = chromium.replace(r#""type":"log""#, r#""type":"error""#);
    criterion
        .bench_function("console call that is kept", |bench| bench.iter(|| receive(&mut machine, &kept)));
    let object = chromium
        .replace(r#"{"type":"string","value":"#, r#"{"type":"object","objectId":"1.2.3","description":"#);
    assert_ne!(object, chromium);
    criterion
        .bench_function("console call with an object", |bench| bench.iter(|| receive(&mut machine, &object)));
    // As another program may write it: the type comes last.
    let other = serde_json::from_str::<serde_json::Value>(&chromium).unwrap().to_string();
    criterion.bench_function("console call in another order", |bench| {
        bench.iter(|| receive(&mut machine, &other))
    });
    let unknown = event(Some(SESSION), "Network.dataReceived", &json!({"requestId": "x".repeat(200)}));
    criterion.bench_function("event of no interest", |bench| bench.iter(|| receive(&mut machine, &unknown)));
}

/// Four events: an iframe comes, has a document, has loaded, and goes.
fn frames(criterion: &mut Criterion) {
    for live in [10, 1_000, 100_000] {
        let life: Vec<String> = (0..LIFE).map(|step| load::life(1 << 24, step)).collect();
        criterion.bench_function(&format!("life of an iframe among {live}"), |bench| {
            let mut machine = machine(live);
            bench.iter(|| life.iter().for_each(|text| receive(&mut machine, text)));
        });
        criterion.bench_function(&format!("the same, and a snapshot, among {live}"), |bench| {
            let mut machine = machine(live);
            bench.iter(|| {
                life.iter().for_each(|text| receive(&mut machine, text));
                black_box(machine.snapshot());
            });
        });
    }
}

/// From the opening to the command that answers it.
fn dialog(criterion: &mut Criterion) {
    let fresh = machine(10);
    let opening = load::opening(1);
    criterion.bench_function("dialog", |bench| {
        bench.iter_batched_ref(|| fresh.clone(), |machine| receive(machine, &opening), BatchSize::SmallInput);
    });
}

criterion_group!(benches, console, frames, dialog);
criterion_main!(benches);

//! What it costs to check an answer: 4 KiB against 2,000 numbers in at most 200 µs, reading what is known each time.

use std::{hint::black_box, sync::Arc, time::SystemTime};

use chrono::NaiveDate;
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Map, Value, json};
use toolwire::{
    agent::ground::{Checker, ContextBundle, contexts::Contexts},
    config::Config,
    contract::{Payload, Provenance, ToolResult},
    domains,
    planner::{ExecutedCall, Offers, PlanRequest, PlannedCall},
    server::app::App,
};

/// Two thousand numbers in five hundred rows.
fn data() -> Value {
    let row = |at: u32| {
        let price = f64::from(at).mul_add(1.37, 10.25);
        json!({"price": price, "change_pct": -0.01 * f64::from(at), "shares": at * 7, "value": price * 1000.0})
    };
    json!({"rows": (0..500).map(row).collect::<Vec<_>>()})
}

/// An answer of 4 KiB with a number every few words.
fn answer(data: &Value) -> String {
    let mut text = String::new();
    for row in data["rows"].as_array().into_iter().flatten().cycle() {
        let line = format!(
            "- It is at ${:.2}, {:+.2}% today [tool:x:v1].\n",
            row["price"].as_f64().unwrap_or(0.0),
            row["change_pct"].as_f64().unwrap_or(0.0)
        );
        if text.len() + line.len() > 4096 {
            break;
        }
        text.push_str(&line);
    }
    text
}

fn ground(criterion: &mut Criterion) {
    let app = App::build(&Config::default(), &domains::bundled()).expect("starts");
    let user = "demo".parse().expect("a user id");
    let offer = Offers::new(&[], Vec::new()).expect("no lexicon");
    let offer = offer.of(&app.registry.snapshot(), &user, |_| true);
    let data = data();
    let text = answer(&data);
    let result = ToolResult {
        tool: "get_quotes".parse().expect("a name"),
        fetched_at: SystemTime::UNIX_EPOCH,
        outcome: Ok(Payload::from_json(data)),
        provenance: Provenance::of("tool:x:v1", "2026-01-15"),
        kept: None,
    };
    let call = PlannedCall {
        tool: "get_quotes".to_owned(),
        arguments: Map::new(),
        reason: String::new(),
        by_model: None,
    };
    let made = [ExecutedCall { call, result: Arc::new(result) }];
    let today = NaiveDate::from_ymd_opt(2026, 1, 16).expect("a day");
    let message = "How are they?";
    let asked = PlanRequest { message, account: None, history: &[], made: &made, offer: &offer, today };
    let bundle = ContextBundle::of(&asked, &[], &Contexts::default());
    let mut group = criterion.benchmark_group("check an answer of 4 KiB against 2,000 numbers");
    let check = |mut checker: Checker, text: &str| {
        let (first, last) = (checker.release(text), checker.finish());
        assert!(first.issue.or(last.issue).is_none(), "it passes");
    };
    group.bench_function("what is known read, too", |bencher| {
        bencher.iter(|| check(Checker::new(black_box(&bundle), &asked), black_box(&text)));
    });
    group.bench_function("in pieces of 16 bytes", |bencher| {
        bencher.iter(|| {
            let mut checker = Checker::new(black_box(&bundle), &asked);
            for piece in text.as_bytes().chunks(16) {
                checker.release(str::from_utf8(piece).expect("ASCII"));
            }
            checker.finish()
        });
    });
    group.finish();
}

criterion_group!(benches, ground);
criterion_main!(benches);

//! What a plan without a model costs over 1,000 tools, the index of their words, and messages made to cost much.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program that prints figures")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    hint::black_box,
    path::Path,
    sync::Arc,
    time::Duration,
};

use chrono::NaiveDate;
use criterion::{Criterion, criterion_group, criterion_main};
use prost_reflect::DescriptorPool;
use serde_json::{Value, json};
use tempfile::TempDir;
use toolwire::{
    base::{clock, files::Tree},
    engine::registry::{Manifests, Registry, RegistryInput},
    planner::{Lexicon, Offer, Offers, PlanRequest, embedded::Embedded},
    tool::context::UserId,
};

const TOOLS: usize = 1000;

/// The size of a hostile message.
const HOSTILE_BYTES: usize = 16 * 1024;

/// A message of more words is not read.
const MAX_WORDS: usize = 128;

const QUESTIONS: [&str; 6] = [
    "What is TSLA trading at?",
    "How much of my growth this year came from deposits?",
    "What is the RSI of TCS and what is its P/E?",
    "Compare HDFCBANK, ICICIBANK and SBIN side by side, and tell me the latest market headlines",
    "What's the weather in Mumbai tomorrow?",
    "Backtest the core profile on HDFCBANK since 2024-06-01, holding 60 days",
];

criterion_group!(benches, plan);
criterion_main!(benches);

fn plan(criterion: &mut Criterion) {
    let (directory, manifests) = (TempDir::new().unwrap(), bundled());
    for number in 0..TOOLS {
        write(directory.path(), &manifests[number % manifests.len()], number);
    }
    let registry = open(directory.path());
    let (snapshot, user) = (registry.snapshot(), "demo".parse::<UserId>().unwrap());
    let offers = || Offers::new(&lexicons(), Vec::new()).unwrap();
    let offer = offers().of(&snapshot, &user, |_| true);
    assert_eq!(offer.tools().len(), TOOLS);
    criterion.bench_function("plan over 1,000 tools", |bencher| {
        let mut questions = QUESTIONS.iter().cycle();
        bencher.iter(|| black_box(decide(&offer, questions.next().unwrap())));
    });
    percentiles(&offer);
    for (name, message) in hostile() {
        let longest = longest_of(200, || black_box(decide(&offer, &message)));
        println!("hostile message of {} bytes, {name}: longest {longest:?} (wanted: 20 ms)", message.len());
    }
    criterion.bench_function("index of 1,000 tools", |bencher| {
        bencher.iter_with_large_drop(|| offers().of(&snapshot, &user, |_| true));
    });
    let longest = longest_of(20, || offers().of(&snapshot, &user, |_| true));
    println!("index of 1,000 tools: longest {longest:?} (wanted: 50 ms)");
}

/// Messages that are made to cost much, with what each consists of.
fn hostile() -> Vec<(&'static str, String)> {
    let repeated = |text: &str| text.repeat(HOSTILE_BYTES / text.len());
    let mut random = fastrand::Rng::with_seed(7);
    let mut word = |length: usize| (0..length).map(|_| random.lowercase()).collect::<String>();
    let mut words = |length: usize| {
        let words: Vec<_> = (0..HOSTILE_BYTES / (length + 1)).map(|_| word(length)).collect();
        words.join(" ")
    };
    // Of as many words as are read, and behind them spaces.
    let read = |text: &str| {
        let words: Vec<_> = text.split(' ').cycle().take(MAX_WORDS).collect();
        format!("{:<HOSTILE_BYTES$}", words.join(" "))
    };
    vec![
        ("names that are read", read("TSLA HDFCBANK ICICIBANK SBIN")),
        ("misspelt words that are read", read("perfromance dividned tehcnicals fundametnals")),
        ("words of tools that are read", read("performance dividends price news and this year")),
        ("long words that are read", words(HOSTILE_BYTES / MAX_WORDS)),
        ("short words", words(7)),
        ("one word", repeated("a")),
        ("one number", repeated("9")),
        ("numbers", repeated("1.2,3% ")),
        ("names", repeated("TSLA HDFCBANK ")),
        ("misspelt words", repeated("perfromance dividned ")),
        ("times", repeated("last year before 2024-06-01 ")),
        ("conjunctions", repeated("and, or not ")),
        ("questions", repeated("how much? ")),
        ("punctuation", repeated("?!,;'-")),
        ("combining letters", repeated("e\u{301}\u{327}")),
    ]
}

/// Returns the longest time of this number of runs. Dropping what a run returns does not count.
fn longest_of<T>(runs: usize, mut run: impl FnMut() -> T) -> Duration {
    let times = (0..runs).map(|_| {
        let begun = clock::now();
        let returned = run();
        let time = begun.elapsed();
        drop(returned);
        time
    });
    times.max().unwrap_or_default()
}

/// Criterion tells means; what is promised is a percentile, over questions that cost differently.
fn percentiles(offer: &Offer) {
    let time = |question| {
        let begun = clock::now();
        black_box(decide(offer, question));
        begun.elapsed()
    };
    let mut times: Vec<_> = QUESTIONS.iter().cycle().take(12_000).map(|question| time(question)).collect();
    times.sort();
    let of = |share: usize| times[times.len() * share / 1_000];
    println!(
        "plan over 1,000 tools: p50 {:?}, p90 {:?}, p99 {:?} (wanted: 200 µs)",
        of(500),
        of(900),
        of(990)
    );
}

fn decide(offer: &Offer, message: &str) -> toolwire::planner::Plan {
    let today = NaiveDate::from_ymd_opt(2026, 1, 16).unwrap();
    Embedded::decide(&PlanRequest { message, account: None, history: &[], made: &[], offer, today })
}

fn lexicons() -> Vec<Lexicon> {
    let of = |domain: &str, text| Lexicon { file: format!("{domain}/lexicon.json"), text };
    vec![
        of("brokerage", include_str!("../data/brokerage/lexicon.json")),
        of("research", include_str!("../data/research/lexicon.json")),
    ]
}

/// The manifests with keywords.
fn bundled() -> Vec<Value> {
    let files =
        fs::read_dir("data/tools").unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    let manifests = files.map(|text| serde_json::from_str::<Value>(&text).unwrap());
    manifests.filter(|manifest| manifest.get("keywords").is_some()).collect()
}

/// A tool with the words of another one, and one of its own.
fn write(directory: &Path, manifest: &Value, number: usize) {
    let name = format!("{}_{number}", manifest["name"].as_str().unwrap());
    let mut copy = json!({
        "name": name,
        "type": "non_function_tool",
        "category": "read",
        "consequence_level": "low",
        "requires_confirmation": false,
    });
    for key in ["title", "description", "utterances", "keywords"] {
        copy[key] = manifest[key].clone();
    }
    copy["keywords"][0] = json!(format!("word{number}"));
    copy["parameters"] = json!({"symbol": {"type": "string", "extract": {"kind": "symbol", "of": "market"}}});
    let tools = directory.join("tools");
    fs::create_dir_all(&tools).unwrap();
    fs::write(tools.join(format!("{name}.json")), copy.to_string()).unwrap();
}

fn open(directory: &Path) -> Arc<Registry> {
    let offered = RegistryInput {
        manifests: Manifests::new(Tree::Disk(directory.to_owned())),
        executors: Vec::new(),
        descriptors: DescriptorPool::new(),
        choices: Vec::new(),
        approve_unless: BTreeMap::new(),
        floors: BTreeMap::new(),
        disabled: Vec::new(),
        domains: BTreeMap::new(),
        intent_parameters: BTreeSet::new(),
    };
    Arc::new(Registry::open(offered).unwrap())
}

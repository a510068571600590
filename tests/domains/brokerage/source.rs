//! The data source: start-up refuses what is wrong, a saved file is seen at once, the last good content stays.

use serde_json::json;
use toolwire::{
    base::files::{Problem, Problems},
    domains::brokerage::source::OpenError,
};

use super::support::{Bench, master, position, positions, quotes};

const MASTER: &str = "user_master.json";

fn book(price: f64) -> String {
    master(json!({"quotes": quotes(&[("AAPL", price, 0.0)])})).to_string()
}

fn bench() -> Bench {
    let files = [
        (MASTER, book(1.0)),
        ("users/riley.json", book(7.0)),
        ("facts/rebalancing.md", "# R\n\nOne.".into()),
    ];
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    Bench::with_files(&files).expect("good files")
}

#[track_caller]
fn assert_price(bench: &Bench, user: &str, expected: f64) {
    let (data, _) = bench.call_as(user, "get_quotes", json!({"symbol": "AAPL"})).expect("a quote");
    assert_eq!(data["quotes"][0]["price"].as_f64(), Some(expected));
}

fn places(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(|problem| format!("{}#{} {}", problem.file, problem.pointer, problem.rule)).collect()
}

#[track_caller]
fn problems(files: &[(&str, &str)]) -> Vec<Problem> {
    match Bench::with_files(files).err() {
        Some(OpenError::Broken(Problems(problems))) => problems,
        other => panic!("{other:?}"),
    }
}

#[test]
fn start_up_without_a_master_file_says_where_it_should_be() {
    let error = Bench::with_files(&[("facts/x.md", "# X")]).err().expect("refused").to_string();
    assert!(error.starts_with("Missing master data file: /"), "{error}");
    assert!(error.ends_with("/brokerage/user_master.json"), "{error}");
}

#[test]
fn start_up_lists_every_problem_of_every_file() {
    let broken = json!({
        "activity": {"as_of": "soon", "account": "Brokerage", "trades": [
            {"timestamp": "yesterday", "symbol": "X", "side": "HOLD", "quantity": -1, "price": "9"},
        ]},
        "positions": {"as_of": "2026-01-15", "account": "Brokerage", "positions": {}, "accounts": {"brokerage": {}}},
        "quotes": {"quotes": [{"symbol": "X", "price": 1, "change_pct": -100}, {"symbol": "x", "price": 1, "change_pct": 0}]},
        "performance": {"as_of": "2026-01-15", "account": "B", "timeframe": "YTD", "return_pct": 1, "contributions": 1,
                        "timeframes": {"2W": {"return_pct": 1, "contributions": 1}}},
        "transfers": 5,
    });
    let problems = problems(&[(MASTER, &broken.to_string()), ("users/riley.json", "{\n  \"as_of\": 1,\n}")]);
    let expected = [
        "brokerage/user_master.json#/activity/as_of wrong-type",
        "brokerage/user_master.json#/activity/trades/0/timestamp wrong-type",
        "brokerage/user_master.json#/activity/trades/0/side wrong-type",
        "brokerage/user_master.json#/activity/trades/0/quantity out-of-range",
        "brokerage/user_master.json#/activity/trades/0/price wrong-type",
        "brokerage/user_master.json#/positions/positions wrong-type",
        "brokerage/user_master.json#/positions/accounts/brokerage duplicate",
        "brokerage/user_master.json#/positions/accounts/brokerage missing-key",
        "brokerage/user_master.json#/quotes missing-key",
        "brokerage/user_master.json#/quotes/quotes/0/change_pct out-of-range",
        "brokerage/user_master.json#/quotes duplicate",
        "brokerage/user_master.json#/performance/timeframes/2W unknown-key",
        "brokerage/user_master.json#/transfers wrong-type",
        "brokerage/users/riley.json# bad-json",
    ];
    assert_eq!(places(&problems), expected);
    let json = problems.last().expect("riley's").to_string();
    assert!(json.contains("line 3 column 1"), "{json}");
}

#[test]
fn a_saved_file_is_seen_by_the_very_next_call() {
    let bench = bench();
    // Each write is as long as the one before.
    for price in [2.0, 3.0, 4.0, 5.0] {
        bench.write(MASTER, &book(price));
        assert_price(&bench, "demo", price);
        bench.write("users/riley.json", &book(price + 4.0));
        assert_price(&bench, "riley", price + 4.0);
    }
    bench.write("facts/rebalancing.md", "# R\n\nTwo.");
    assert_eq!(bench.data("get_facts", json!({"topic": "x"}))["snippet"], "Two.");
}

#[test]
fn a_second_write_with_the_same_stamp_is_seen() {
    let bench = bench();
    bench.write(MASTER, &book(2.0));
    assert_price(&bench, "demo", 2.0);
    let modified = bench.modified(MASTER);
    bench.write(MASTER, &book(3.0));
    bench.set_modified(MASTER, modified);
    assert_price(&bench, "demo", 3.0);
}

#[test]
fn the_same_content_is_the_same_state() {
    let bench = bench();
    let before = bench.brokerage.current();
    bench.write(MASTER, &book(1.0));
    assert_eq!(bench.brokerage.look().digest, before.digest());
    assert!(std::sync::Arc::ptr_eq(&before, &bench.brokerage.current()));
    bench.write(MASTER, &book(2.0));
    assert_ne!(bench.brokerage.look().digest, before.digest());
}

#[test]
fn a_broken_file_keeps_the_last_good_content_and_is_reported_until_fixed() {
    let bench = bench();
    bench.write(MASTER, "{\"as_of\": \"2026-01-15\", \"quotes\": {\"quotes\": [{\"symbol\": 5}]}}");
    bench.write("users/riley.json", "not JSON");
    assert_price(&bench, "demo", 1.0);
    assert_price(&bench, "riley", 7.0);
    let found = places(&bench.brokerage.health().problems);
    for place in [
        "brokerage/user_master.json#/quotes/quotes/0/symbol wrong-type",
        "brokerage/user_master.json#/quotes/quotes/0 missing-key",
        "brokerage/users/riley.json# bad-json",
    ] {
        assert!(found.contains(&place.to_owned()), "{place} is not among {found:#?}");
    }
    bench.write(MASTER, &book(9.0));
    bench.write("users/riley.json", &book(7.0));
    assert_eq!(bench.brokerage.look().problems, []);
    assert_price(&bench, "demo", 9.0);
}

#[test]
fn the_last_good_content_of_a_broken_file_says_so() {
    let bench = bench();
    let warnings = |user, tool, arguments| bench.call_as(user, tool, arguments).expect("served").1.warnings;
    let quote = |user| warnings(user, "get_quotes", json!({"symbol": "AAPL"}));
    let expected = "The file of this data is broken or gone. This is its last good content, which newer data may contradict.";
    assert_eq!(quote("demo"), Vec::<String>::new());
    bench.write(MASTER, "not JSON");
    assert_eq!((quote("demo"), quote("riley")), (vec![expected.to_owned()], vec![]));
    // The same content again, now from a good file.
    bench.write(MASTER, &book(1.0));
    assert_eq!(quote("demo"), Vec::<String>::new());
    bench.write("users/riley.json", "not JSON");
    assert_eq!((quote("demo"), quote("riley")), (vec![], vec![expected.to_owned()]));
    bench.remove(MASTER);
    assert_eq!(quote("demo"), [expected]);
}

#[test]
fn a_composite_of_a_broken_file_says_so_once() {
    let good = master(json!({
        "positions": positions(&[position("AAPL", 1.0, 1.0)]), "quotes": quotes(&[("AAPL", 2.0, 0.0)]),
    }));
    let bench = Bench::with_master(&good);
    bench.write(MASTER, "not JSON");
    let warnings = bench.warnings("rank_portfolio", json!({}));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("last good content"), "{warnings:?}");
}

#[test]
fn a_deleted_master_file_keeps_the_last_good_content() {
    let bench = bench();
    bench.remove(MASTER);
    assert_price(&bench, "demo", 1.0);
    let expected = ["brokerage/user_master.json# missing-file"];
    assert_eq!(places(&bench.brokerage.health().problems), expected);
    bench.write(MASTER, &book(1.0));
    assert_eq!(bench.brokerage.look().problems, []);
}

#[test]
fn a_refresh_sees_users_and_facts_come_and_go() {
    let bench = bench();
    let call = |user| bench.call_as(user, "get_quotes", json!({"symbol": "AAPL"}));
    bench.write("users/casey.json", &book(3.0));
    bench.write("facts/annuities.md", "# Annuities\n\nPaid yearly.");
    bench.brokerage.look();
    assert!(call("casey").is_ok());
    assert_eq!(bench.data("get_facts", json!({"topic": "annuity"}))["source"], "facts/annuities.md");
    bench.remove("users/casey.json");
    bench.remove("facts/annuities.md");
    bench.brokerage.look();
    assert!(call("casey").is_err());
    assert_eq!(bench.data("get_facts", json!({"topic": "annuity"}))["source"], "facts/rebalancing.md");
}

#[test]
fn a_file_for_the_default_user_or_for_no_user_is_refused() {
    let problems = problems(&[(MASTER, "{}"), ("users/demo.json", "{}"), ("users/two words.json", "{}")]);
    let expected = ["brokerage/users/demo.json# duplicate", "brokerage/users/two words.json# bad-name"];
    assert_eq!(places(&problems), expected);
}

#[test]
fn readers_at_the_same_time_all_see_the_new_state() {
    let bench = bench();
    for price in [2.0, 3.0, 4.0] {
        bench.write(MASTER, &book(price));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_price(&bench, "demo", price));
            }
        });
    }
}

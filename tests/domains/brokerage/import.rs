//! `import`: the six legacy files become one master file.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;
use toolwire::{
    base::files::Problems,
    domains::brokerage::source::{SECTIONS, import},
};

use super::support::Bench;

fn legacy() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/legacy"))
}

fn read(directory: &Path, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(directory.join(file)).expect("a file")).expect("JSON")
}

/// A copy of the legacy files that a test may spoil.
fn copy() -> TempDir {
    let directory = TempDir::new().expect("a directory");
    for entry in fs::read_dir(legacy()).expect("the fixtures") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, directory.path().join(path.file_name().expect("a name"))).expect("copied");
    }
    directory
}

#[test]
fn the_legacy_files_become_a_master_file_that_serves() {
    let master = import::merge(legacy()).expect("the fixtures are good");
    let keys: Vec<_> = master.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, [&["as_of"], SECTIONS.as_slice()].concat());
    assert_eq!(master["account_summary"], read(legacy(), "account.json"));
    assert_eq!(master["positions"], read(legacy(), "positions.json"));
    let bench = Bench::with_master(&master);
    assert_eq!(bench.data("get_quotes", json!({"symbol": "AAPL"}))["quotes"][0]["price"], json!(193.12));
}

#[test]
fn the_date_is_the_newest_and_each_section_keeps_its_own() {
    let directory = copy();
    let mut quotes = read(directory.path(), "quotes.json");
    quotes["as_of"] = json!("2026-02-01");
    fs::write(directory.path().join("quotes.json"), quotes.to_string()).expect("written");
    let master = import::merge(directory.path()).expect("good files");
    assert_eq!(
        (&master["as_of"], &master["activity"]["as_of"]),
        (&json!("2026-02-01"), &json!("2026-01-15"))
    );
}

#[test]
fn every_missing_and_broken_file_is_listed() {
    let directory = copy();
    fs::remove_file(directory.path().join("account.json")).expect("removed");
    fs::write(directory.path().join("activity.json"), "{").expect("written");
    fs::write(
        directory.path().join("positions.json"),
        r#"{"as_of": "2026-01-15", "account": "B", "positions": 5}"#,
    )
    .expect("written");
    let Problems(problems) = import::merge(directory.path()).expect_err("refused");
    let found: Vec<_> = problems.iter().map(|p| (p.file.as_str(), p.pointer.as_str(), p.rule)).collect();
    let expected = [
        ("account.json", "", "missing-file"),
        ("activity.json", "", "bad-json"),
        ("positions.json", "/positions", "wrong-type"),
    ];
    assert_eq!(found, expected);
}

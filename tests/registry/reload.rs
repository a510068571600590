//! What becomes of a registry when files and data change under it.

use std::{collections::BTreeMap, fs, io::Write, process::Command, sync::Arc, thread};

use serde_json::json;
use toolwire::{
    base::files::Problem,
    engine::registry::{Change, SourceHealth, Status},
};

use super::support::{Data, manifest};

/// Changes as words, in order.
fn words(changes: &[Change]) -> Vec<String> {
    let name = |tool: &toolwire::engine::registry::RegisteredTool| tool.definition.name.clone();
    changes
        .iter()
        .map(|change| match change {
            Change::Added(tool) => format!("added {}", name(tool)),
            Change::Changed(tool) => format!("changed {}", name(tool)),
            Change::Removed(tool) => format!("removed {tool}"),
            Change::Degraded(tool) => format!("degraded {}", name(tool)),
            Change::DataChanged(_) => "data".to_owned(),
            Change::Problems(problems) => format!("{} problems", problems.len()),
        })
        .collect()
}

#[test]
fn all_manifests_are_taken_over_together() {
    let data = Data::with(&[manifest("get_quotes", &json!({})), manifest("get_transfers", &json!({}))]);
    let registry = data.open();
    let (before, mut watcher) = (registry.snapshot(), registry.watch());
    data.put(&manifest("get_quotes", &json!({"title": "Quotes"})));
    data.put(&manifest("rank_portfolio", &json!({"intents": ["portfolio_ranking"]})));
    data.remove("tools/get_transfers.json");
    registry.reload();
    let after = registry.snapshot();
    assert_eq!(
        words(&after.changes_since(&before)),
        ["removed get_transfers", "changed get_quotes", "added rank_portfolio"]
    );
    assert!(watcher.has_changed().expect("open"));
    assert!(after.by_intent("portfolio_ranking").is_some());
    assert_eq!(watcher.borrow_and_update().tools().count(), 2);
}

#[test]
fn one_bad_file_keeps_everything_as_it_was() {
    let data = Data::with(&[manifest("get_quotes", &json!({}))]);
    let registry = data.open();
    let good = registry.snapshot();
    data.put(&manifest("get_quotes", &json!({"title": "Quotes"})));
    data.write("tools/get_transfers.json", "{");
    registry.reload();
    let broken = registry.snapshot();
    assert_eq!(words(&broken.changes_since(&good)), ["1 problems"]);
    assert_eq!(broken.problems()[0].file, "tools/get_transfers.json");
    assert_eq!(broken.get("get_quotes").expect("the tool").definition.title, "");

    data.put(&manifest("get_transfers", &json!({})));
    registry.reload();
    let fixed = registry.snapshot();
    let changes = fixed.changes_since(&broken);
    assert_eq!(words(&changes), ["changed get_quotes", "added get_transfers", "0 problems"]);
}

#[test]
fn nothing_is_published_while_nothing_changes() {
    let data = Data::with(&[manifest("get_quotes", &json!({}))]);
    let registry = data.open();
    let mut watcher = registry.watch();
    registry.reload();
    // The same content again is no change either.
    data.put(&manifest("get_quotes", &json!({})));
    registry.reload();
    assert!(!watcher.has_changed().expect("open"));
    registry.set_source_health("brokerage", SourceHealth::default());
    assert!(watcher.has_changed().expect("open"), "a new source is a change");
    watcher.mark_unchanged();
    registry.set_source_health("brokerage", SourceHealth::default());
    assert!(!watcher.has_changed().expect("open"), "the same health again is none");
}

#[test]
fn a_change_of_the_same_length_right_after_another_is_seen() {
    let data = Data::with(&[manifest("get_quotes", &json!({"title": "A"}))]);
    let registry = data.open();
    for title in ["B", "C", "D"] {
        data.put(&manifest("get_quotes", &json!({"title": title})));
        registry.reload();
        assert_eq!(registry.snapshot().get("get_quotes").expect("the tool").definition.title, title);
    }
}

#[test]
fn a_missing_section_degrades_only_the_tools_that_need_it() {
    let needs = |section: &str| json!({"source": {"name": "brokerage", "sections": [section]}});
    let data = Data::with(&[
        manifest("get_quotes", &needs("quotes")),
        manifest("get_transfers", &needs("transfers")),
        manifest("rank_portfolio", &json!({})),
    ]);
    let registry = data.open();
    let before = registry.snapshot();
    let reason = "Missing section 'quotes' in user_master.json";
    let problem = Problem::new("brokerage/user_master.json", "missing-section", reason);
    let problem = Problem { pointer: "/quotes".to_owned(), ..problem };
    let health = SourceHealth {
        digest: "1".to_owned(),
        problems: vec![problem],
        sections: BTreeMap::from([("quotes".to_owned(), reason.to_owned())]),
    };
    registry.set_source_health("brokerage", health);
    let degraded = registry.snapshot();
    assert_eq!(words(&degraded.changes_since(&before)), ["degraded get_quotes", "data", "1 problems"]);
    let tool = degraded.get("get_quotes").expect("the tool");
    assert_eq!(tool.definition.status, Status::Degraded(reason.to_owned()));
    assert_eq!(tool.definition.digest, before.get("get_quotes").expect("the tool").definition.digest);

    // A reload in between keeps the degradation.
    data.put(&manifest(
        "get_quotes",
        &json!({"title": "Q", "source": {"name": "brokerage", "sections": ["quotes"]}}),
    ));
    registry.reload();
    let reloaded = registry.snapshot();
    assert_eq!(words(&reloaded.changes_since(&degraded)), ["changed get_quotes"]);

    registry
        .set_source_health("brokerage", SourceHealth { digest: "2".to_owned(), ..SourceHealth::default() });
    let fixed = registry.snapshot();
    assert_eq!(words(&fixed.changes_since(&reloaded)), ["changed get_quotes", "data", "0 problems"]);
}

#[test]
fn what_is_for_operators_alone_is_told_to_nobody() {
    let data = Data::with(&[manifest("get_quotes", &json!({}))]);
    let registry = data.open();
    registry.set_source_health("brokerage", SourceHealth::default());
    let before = registry.snapshot();
    let problem = Problem::new("brokerage/users/riley.json", "bad-json", "not JSON").for_operators();
    let health = SourceHealth { problems: vec![problem], ..SourceHealth::default() };
    registry.set_source_health("brokerage", health);
    let after = registry.snapshot();
    assert_eq!(after.problems(), []);
    assert!(after.changes_since(&before).is_empty(), "not even that there is one");
}

#[test]
fn a_directory_that_vanishes_takes_no_tool_with_it() {
    let data = Data::with(&[manifest("get_quotes", &json!({}))]);
    let registry = data.open();
    fs::rename(data.path().join("tools"), data.path().join("tools_")).expect("renamed");
    registry.reload();
    let snapshot = registry.snapshot();
    assert!(snapshot.get("get_quotes").is_some());
    assert_eq!(snapshot.problems()[0].file, "tools");
    fs::rename(data.path().join("tools_"), data.path().join("tools")).expect("renamed");
    registry.reload();
    assert!(registry.snapshot().problems().is_empty());
}

#[test]
fn the_tool_of_a_file_that_has_not_changed_is_not_made_again() {
    let data = Data::with(&[manifest("get_quotes", &json!({})), manifest("get_transfers", &json!({}))]);
    let registry = data.open();
    let before = registry.snapshot();
    let is_as_before = |name: &str| {
        let now = registry.snapshot();
        Arc::ptr_eq(now.get(name).expect("now"), before.get(name).expect("before"))
    };
    data.put(&manifest("get_transfers", &json!({"title": "Transfers"})));
    registry.reload();
    assert!(is_as_before("get_quotes") && !is_as_before("get_transfers"));
    // Nor if another file was wrong in between.
    data.write("tools/get_transfers.json", "{");
    registry.reload();
    data.put(&manifest("get_transfers", &json!({})));
    registry.reload();
    assert!(is_as_before("get_quotes") && !is_as_before("get_transfers"));
    assert!(registry.snapshot().problems().is_empty());
}

#[test]
fn a_reload_says_of_the_files_what_a_start_would_say() {
    let think = |changes| manifest("think", &changes).to_string();
    let data = Data::with(&[
        manifest("think", &json!({"intents": ["thought"]})),
        manifest("think_again", &json!({"depends_on": ["think"]})),
        manifest("get_quotes", &json!({})),
    ]);
    let registry = data.open();
    let edits = [
        ("tools/other.json", manifest("other", &json!({"intents": ["thought"]})).to_string()),
        ("diagnostics/think.json", think(json!({}))),
        ("tools/think.json", think(json!({"depends_on": ["think_again"]}))),
        ("tools/think_again.json", manifest("think_again", &json!({"depends_on": ["thinks"]})).to_string()),
        ("tools/a.json", "{".to_owned()),
        ("tools/get_quotes.json", manifest("get_quotes", &json!({"input": "x", "tags": 1})).to_string()),
        ("diagnostics/think.json", think(json!({"intents": ["thought"], "name": "thinks"}))),
    ];
    for (file, text) in edits {
        data.write(file, &text);
        registry.reload();
        assert_eq!(registry.snapshot().problems(), data.problems(), "after {file}");
    }
    for file in ["tools/other.json", "diagnostics/think.json", "tools/a.json"] {
        data.remove(file);
        registry.reload();
        assert_eq!(registry.snapshot().problems(), data.problems(), "after {file}");
    }
}

#[test]
fn whoever_knew_the_old_tools_last_does_not_give_their_memory_back() {
    let data = Data::with(&[manifest("get_quotes", &json!({}))]);
    let registry = data.open();
    let old = Arc::downgrade(registry.snapshot().get("get_quotes").expect("the tool"));
    let (watcher, call) = (registry.watch(), registry.snapshot());
    data.put(&manifest("get_quotes", &json!({"title": "Quotes"})));
    registry.reload();
    drop((watcher, call));
    assert!(old.upgrade().is_some(), "it is left to the next look");
    registry.reload();
    assert!(old.upgrade().is_none());
}

#[test]
fn what_a_source_says_does_not_wait_for_a_look_at_the_files() {
    let data = Data::with(&[manifest("get_quotes", &json!({}))]);
    let registry = data.open();
    let slow = data.path().join("tools/think.json");
    assert!(Command::new("mkfifo").arg(&slow).status().expect("there is mkfifo").success());
    thread::scope(|scope| {
        scope.spawn(|| registry.reload());
        // Opens once the look has opened it too, and waits for what it says.
        let mut slow = fs::File::options().write(true).open(&slow).expect("opened");
        registry.set_source_health("brokerage", SourceHealth::default());
        assert!(registry.snapshot().get("think").is_none(), "the look goes on");
        slow.write_all(manifest("think", &json!({})).to_string().as_bytes()).expect("written");
    });
    assert!(registry.snapshot().get("think").is_some());
}

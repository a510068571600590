//! `keywords` and `extract`: what start-up refuses of them, what lint says, and that callers do not see them.

use serde_json::{Value, json};
use toolwire::{contract::proto::v1, engine::registry::lint};

use super::support::{Data, manifest};

/// A `rank_portfolio` with the given changes breaks exactly the given rules, as `rule pointer`.
#[track_caller]
fn check(changes: &Value, expected: &[&str]) {
    let problems = Data::with(&[manifest("rank_portfolio", changes)]).problems_if_any().unwrap_or_default();
    let found: Vec<_> = problems.iter().map(|it| format!("{} {}", it.rule, it.pointer)).collect();
    assert_eq!(found, expected, "{problems:#?}");
}

fn keywords(count: usize) -> Value {
    (0..count).map(|number| format!("phrase {number}")).collect()
}

#[test]
fn keywords_are_few_short_and_told_once() {
    check(&json!({"keywords": keywords(5)}), &[]);
    check(&json!({"keywords": keywords(60)}), &[]);
    check(&json!({"keywords": keywords(4)}), &["keyword-count /keywords"]);
    check(&json!({"keywords": keywords(61)}), &["keyword-count /keywords"]);
    check(&json!({"keywords": ["a", "b", "c", "d", "A"]}), &["duplicate /keywords/4"]);
    check(&json!({"keywords": ["a", "b", "c", "d", "e".repeat(61)]}), &["keyword-length /keywords/4"]);
    check(&json!({"keywords": "a"}), &["wrong-type /keywords"]);
}

#[test]
fn an_extract_is_of_a_known_kind_and_fits_its_parameter() {
    let of = |extract: Value| json!({"parameters": {"direction": {"enum": ["best", "worst"], "extract": extract}}});
    check(&of(json!("words")), &[]);
    check(&of(json!({"kind": "words", "words": {"worst": ["losers"]}})), &[]);
    check(&of(json!("word")), &["wrong-type /parameters/direction/extract"]);
    check(&of(json!({"kind": "word"})), &["wrong-type /parameters/direction/extract/kind"]);
    check(&of(json!({"of": "market"})), &["missing-key /parameters/direction/extract/kind"]);
    check(&of(json!({"kind": "words", "word": {}})), &["unknown-key /parameters/direction/extract/word"]);
    check(&of(json!("count")), &["extract-type /parameters/direction/extract"]);
    let unknown = json!({"kind": "words", "words": {"middle": ["average"]}});
    check(&of(unknown), &["extract-word /parameters/direction/extract/words/middle"]);
    let twice = json!({"kind": "words", "words": {"best": ["top"], "worst": ["Top"]}});
    check(&of(twice), &["duplicate /parameters/direction/extract/words/worst"]);
    let texts = json!({"kind": "words", "words": {"best": "top"}});
    check(&of(texts), &["wrong-type /parameters/direction/extract/words/best"]);
    // What a result returns is read from nothing.
    check(
        &json!({"returns": {"direction": {"extract": "words"}}}),
        &["unknown-key /returns/direction/extract"],
    );
}

#[test]
fn callers_see_neither_and_no_digest_covers_them() {
    let plain = manifest("rank_portfolio", &json!({"parameters": {"direction": {"enum": ["best"]}}}));
    let routed = manifest(
        "rank_portfolio",
        &json!({
            "keywords": keywords(5),
            "parameters": {"direction": {"enum": ["best"], "extract": "words"}}
        }),
    );
    let definition = |manifest: Value| {
        let snapshot = Data::with(&[manifest]).open().snapshot();
        snapshot.get("rank_portfolio").expect("the tool").definition.wire(v1::ToolView::FullJson)
    };
    assert_eq!(definition(plain), definition(routed));
}

#[test]
fn lint_wants_six_questions_beside_keywords_and_a_reading_of_what_is_required() {
    let weaknesses = |changes: Value| {
        let found = lint::lint(&Data::with(&[manifest("get_quotes", &changes)]).offered());
        let of_hints = ["few-utterances", "duplicate-utterance", "no-extract"];
        let found = found.iter().filter(|it| of_hints.contains(&it.rule));
        found.map(|it| format!("{} {}", it.rule, it.pointer)).collect::<Vec<_>>()
    };
    let six = json!(["a b", "b c", "c d", "d e", "e f", "f g"]);
    let symbol = |extract: Value| json!({"symbol": {"required": true, "extract": extract}});
    let good = json!({"kind": "symbols", "of": "market", "join": ","});
    let complete = json!({"keywords": keywords(5), "utterances": six, "parameters": symbol(good.clone())});
    assert!(weaknesses(complete).is_empty());
    let few = json!({"keywords": keywords(5), "utterances": ["a b", "A b"], "parameters": symbol(good)});
    assert_eq!(weaknesses(few), ["duplicate-utterance /utterances/1", "few-utterances /utterances"]);
    let unread =
        json!({"keywords": keywords(5), "utterances": six, "parameters": {"symbol": {"required": true}}});
    assert_eq!(weaknesses(unread), ["no-extract /parameters/symbol"]);
    // Without keywords it is for planners that have a model.
    assert!(weaknesses(json!({"parameters": {"symbol": {"required": true}}})).is_empty());
}

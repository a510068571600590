//! What people and planners read: planner text, near names, the documentation page.

use serde_json::json;
use toolwire::{
    contract::near,
    engine::registry::{Detail, describe_for_planner, docs},
};

use super::support::{Data, manifest};

#[test]
fn a_planner_reads_one_line_a_tool_in_order_of_name() {
    let data = Data::with(&[
        manifest("rank_portfolio", &json!({"description": "Ranks it.\n  Use it well."})),
        manifest("get_quotes", &json!({"description": "Returns quotes."})),
    ]);
    let snapshot = data.open().snapshot();
    let expected = "- get_quotes: Returns quotes.\n- rank_portfolio: Ranks it. Use it well.";
    assert_eq!(describe_for_planner(snapshot.tools(), Detail::Line), expected);
}

#[test]
fn a_planner_without_tools_is_told_so() {
    let snapshot = Data::new().open().snapshot();
    assert_eq!(describe_for_planner(snapshot.tools(), Detail::Line), "No tools are currently available.");
}

#[test]
fn intents_route_to_tools_and_near_ones_are_named() {
    let data = Data::with(&[
        manifest("get_quotes", &json!({"intents": ["quotes"]})),
        manifest("get_positions", &json!({"intents": ["positions", "symbol_performance"]})),
    ]);
    let snapshot = data.open().snapshot();
    let tool = snapshot.by_intent("symbol_performance").expect("the tool");
    assert_eq!(tool.definition.name.as_str(), "get_positions");
    assert!(snapshot.by_intent("get_positions").is_none());
    let intents: Vec<_> = snapshot.intents().map(|(intent, _)| intent).collect();
    assert_eq!(intents, ["positions", "quotes", "symbol_performance"]);
    assert_eq!(near::names("quote", intents.into_iter()), ["quotes"]);
}

#[test]
fn the_page_of_all_tools() {
    let data = Data::with(&[
        manifest(
            "get_positions",
            &json!({
                "title": "Positions",
                "description": "Returns the positions of an account. Use it when one symbol matters.",
                "parameters": {"symbol": {"required": true, "max_length": 10}},
                "tags": ["portfolio"],
                "intents": ["positions"],
                "source": {"name": "brokerage", "sections": ["positions"]},
                "examples": [{"description": "One symbol.", "arguments": {"symbol": "AAPL"}}],
            }),
        ),
        manifest("debug_stream", &json!({"parameters": {"count": {"default": 3, "maximum": 10}}})),
    ]);
    let page = docs::render(&data.open().snapshot());
    insta::assert_snapshot!(page);
}

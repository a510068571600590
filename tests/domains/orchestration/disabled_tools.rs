//! Tools that cannot be called as things are set: listed with the reason, refused with it, and not told to planners.

use serde_json::json;
use toolwire::{
    config::Config,
    contract::Refusal,
    engine::registry::{Detail, Status, describe_for_planner},
};

use super::support::{Service, live};

fn disabled(service: &Service) -> Vec<String> {
    let snapshot = service.app.registry.snapshot();
    let is_disabled = |status: &Status| matches!(status, Status::Disabled(_));
    let disabled = snapshot.tools().filter(|tool| is_disabled(&tool.definition.status));
    disabled.map(|tool| tool.definition.name.to_string()).collect()
}

#[tokio::test]
async fn what_asks_a_model_is_disabled_and_says_why() {
    let service = Service::of(Config::default());
    assert_eq!(disabled(&service), ["ask_claude", "ask_gpt"]);
    for tool in ["ask_claude", "ask_gpt"] {
        match service.call(tool, json!({"prompt": "Hello?"})).await {
            Err(Refusal::ToolDisabled { tool: named, reason }) => {
                assert_eq!(named, tool);
                assert!(reason.contains("no model is configured"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
    }
    let snapshot = service.app.registry.snapshot();
    let told = describe_for_planner(snapshot.tools(), Detail::Line);
    assert!(!told.contains("ask_gpt:") && told.contains("search_web:"), "{told}");
}

#[tokio::test]
async fn a_search_over_the_network_needs_an_engine() {
    let service = Service::of(live(None));
    assert_eq!(disabled(&service), ["ask_claude", "ask_gpt", "search_web"]);
    match service.call("search_web", json!({"query": "a"})).await {
        Err(Refusal::ToolDisabled { reason, .. }) => assert!(reason.contains("[sources.search]"), "{reason}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(disabled(&Service::of(live(Some("http://127.0.0.1:9")))), ["ask_claude", "ask_gpt"]);
}

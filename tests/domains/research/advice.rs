//! What an agent is told of the tools before it calls one: budgets, tags, and which profiles there are.

use std::collections::BTreeSet;

use toolwire::{
    config::Config,
    domains::research::settings::{self, Profiles},
    engine::registry::{Definition, Detail},
    server::service::Filter,
    tool::context::User,
};

use super::support::Research;

fn guidance(research: &Research) -> String {
    let user = User::new("demo".parse().expect("a user id"));
    research.app.tools.guidance(&user, Filter::with_tags(Vec::new()), Detail::Line).guidance.clone()
}

#[tokio::test]
async fn guidance_states_the_budgets_of_004_though_the_sources_are_embedded() {
    let guidance = guidance(&Research::embedded());
    for line in [
        "- Screener tools: Max 6 calls per cycle. Use sparingly.",
        "- ValuePickr tools: Max 12 calls per cycle. Use sparingly.",
        "- Reddit tools: Max 30 calls per cycle. Use sparingly.",
        "- Yahoo Finance tools: Can be called more freely (60/min).",
        "- News tools: Max 12 calls per cycle. Use sparingly.",
        "- If a tool returns a rate limit error, wait before retrying.",
        "- Prioritize: Check holdings first, then watchlist, then discovery.",
    ] {
        assert!(guidance.contains(line), "{line} is not in\n{guidance}");
    }
}

/// Whether a tool's messages are of the package.
fn is_of_research(definition: &Definition) -> bool {
    definition.input_message.as_ref().is_some_and(|name| name.starts_with("toolwire.research."))
}

#[tokio::test]
async fn tools_are_tagged_with_the_categories_of_004_and_with_none_twice() {
    let research = Research::embedded();
    let mut seen = BTreeSet::new();
    for tool in research.app.registry.snapshot().tools() {
        let definition = &tool.definition;
        let tags: BTreeSet<_> = definition.tags.iter().map(String::as_str).collect();
        assert_eq!(tags.len(), definition.tags.len(), "{} {:?}", definition.name, definition.tags);
        if is_of_research(definition) {
            assert_eq!(tags.len(), 1, "{} {tags:?}", definition.name);
            seen.extend(definition.tags.clone());
        }
    }
    assert_eq!(
        seen.iter().map(String::as_str).collect::<Vec<_>>(),
        ["discovery", "filter", "research", "roadmap"]
    );
}

/// The words that a tool's parameter `profile` may be.
fn profiles(research: &Research, tool: &str) -> Vec<String> {
    let snapshot = research.app.registry.snapshot();
    let schema = &snapshot.get(tool).expect("offered").definition.input_schema;
    serde_json::from_value(schema["properties"]["profile"]["enum"].clone()).expect("an enum")
}

#[tokio::test]
async fn profiles_are_an_enum_of_those_that_are_configured() {
    let bundled = Research::embedded();
    assert_eq!(profiles(&bundled, "check_wait_zone"), ["core", "momentum", "value"]);
    assert_eq!(profiles(&bundled, "check_forbidden"), ["default"]);
    assert_eq!(profiles(&bundled, "backtest_filter"), ["core", "momentum", "value"]);
    let mut rules = Profiles::default();
    let value = rules.wait_zone["value"];
    rules.wait_zone.insert("deep_value".to_owned(), value);
    let of_prices = settings::Forbidden { min_price: Some(50.0), ..settings::Forbidden::default() };
    rules.forbidden.insert("liquid".to_owned(), of_prices);
    let own = Config::default().with(settings::Settings { profiles: rules, ..settings::Settings::default() });
    let own = Research::of(own);
    assert_eq!(profiles(&own, "check_wait_zone"), ["core", "deep_value", "momentum", "value"]);
    assert_eq!(profiles(&own, "backtest_filter"), ["core", "deep_value", "momentum", "value", "liquid"]);
}

//! Answers without a model: every tool's own, over embedded data, and whether they pass the checks.

use std::{collections::BTreeSet, sync::Arc};

use chrono::NaiveDate;
use futures_util::TryStreamExt as _;
use serde_json::{Map, Value, json};
use toolwire::{
    agent::{
        ground::{Checker, ContextBundle, IssueKind},
        service::turns::Turns,
    },
    config::Config,
    contract::{ErrorCode, ToolError, ToolResult},
    engine::registry::{Category, Definition, Status},
    planner::{ExecutedCall, Offer, Offers, PlanRequest, PlannedCall},
};

use super::research::support::Research;

/// A service, and what its user is offered.
struct Turn {
    service: Research,
    offer: Offer,
}

/// What a turn came to.
struct Answered {
    bundle: ContextBundle,
    text: String,
    passed: String,
    citations: Vec<String>,
    issue: Option<IssueKind>,
    is_attributed: bool,
}

impl Turn {
    fn new() -> Self {
        let service = Research::of(Config::default());
        let user = "demo".parse().expect("a user");
        let offers = Offers::new(&[], Vec::new()).expect("nothing is wrong with nothing");
        let offer = offers.of(&service.app.registry.snapshot(), &user, |_| true);
        Self { service, offer }
    }

    async fn make(&self, tool: &str, arguments: Value) -> ExecutedCall {
        let result = Arc::new(self.service.call(tool, arguments.clone()).await);
        ExecutedCall { call: planned(tool, arguments), result }
    }

    async fn answer(&self, message: &str, made: &[ExecutedCall]) -> Answered {
        let today = NaiveDate::from_ymd_opt(2026, 11, 22).expect("a day");
        let offer = &self.offer;
        let asked = PlanRequest { message, account: None, history: &[], made, offer, today };
        let turns = self.service.app.part::<Turns>();
        let parts = turns.agent().parts();
        let bundle = ContextBundle::of(&asked, &[], &parts.contexts);
        let answerer = &parts.embedded;
        let text: String = answerer.answer(&asked, &bundle, None).try_collect().await.expect("it answers");
        let mut checker = Checker::new(&bundle, &asked);
        let (first, last) = (checker.release(&text), checker.finish());
        let sentences = first.sentences.iter().chain(&last.sentences);
        Answered {
            passed: sentences.map(|sentence| sentence.text.as_str()).collect(),
            citations: checker.citations().to_vec(),
            issue: first.issue.or(last.issue).map(|issue| issue.kind),
            is_attributed: checker.is_attributed(),
            text,
            bundle,
        }
    }
}

fn planned(tool: &str, arguments: Value) -> PlannedCall {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    PlannedCall { tool: tool.to_owned(), arguments, reason: String::new(), by_model: None }
}

fn failure(tool: &str, error: ToolError) -> ExecutedCall {
    let name = tool.parse().expect("a name");
    let fetched_at = std::time::SystemTime::UNIX_EPOCH;
    let provenance = toolwire::contract::Provenance::default();
    let result = ToolResult { tool: name, fetched_at, outcome: Err(error), provenance, kept: None };
    ExecutedCall { call: planned(tool, json!({"symbol": "AAPL"})), result: Arc::new(result) }
}

impl Answered {
    #[track_caller]
    fn passes_untouched(&self, what: &str) {
        assert_eq!(self.issue, None, "{what}: {}", self.text);
        assert!(!self.is_attributed, "{what} needed a citation: {}", self.passed);
        assert_eq!(self.passed, self.text, "{what}");
        let sources: BTreeSet<_> = self.bundle.source_ids.iter().collect();
        assert!(self.citations.iter().all(|id| sources.contains(id)), "{what} cites {:?}", self.citations);
        assert!(!self.citations.is_empty(), "{what} cites nothing: {}", self.text);
    }
}

/// Calls beside the examples of the manifests: what is not held, not quoted, not found, and empty.
fn more() -> Vec<(&'static str, Value)> {
    vec![
        ("get_positions", json!({"symbol": "TSLA"})),
        ("get_symbol_performance", json!({"symbol": "TSLA"})),
        ("get_symbol_performance", json!({"symbol": "AVUV", "account": "Retirement"})),
        ("get_positions_list", json!({"asset_class": "crypto"})),
        ("get_quotes", json!({"symbol": "AAPL,MSFT,VOO,TSLA"})),
        ("rank_portfolio", json!({"account": "Retirement"})),
        ("get_performance_with_transfers", json!({"timeframe": "1Y"})),
        ("get_facts", json!({"topic": "something else"})),
        ("check_forbidden", json!({"symbol": "HDBFS"})),
        ("check_forbidden", json!({"symbol": "IDEA"})),
        ("check_wait_zone", json!({"symbol": "TCS"})),
        ("compare_stocks", json!({"symbols": ["TCS", "INFY", "ZZZZ"]})),
        ("get_fundamentals", json!({"symbol": "HDBFS"})),
        ("get_technicals", json!({"symbol": "HDBFS"})),
        ("get_stock_thesis", json!({"query": "no such company at all"})),
        ("get_news", json!({"symbol": "HDBFS", "days": 1})),
        ("get_reddit_mentions", json!({"symbol": "HDBFS"})),
        ("get_insider_trading", json!({"symbol": "HDBFS"})),
        ("browse_watchlist", json!({"source": "all"})),
        ("browse_valuepickr", json!({"category": "watchlist"})),
        ("backtest_filter", json!({"symbols": ["HDBFS"]})),
    ]
}

/// Whether a tool is one of those whose answers have templates.
fn is_of_domain(tool: &Definition) -> bool {
    let of = |package: &str| tool.output_message.as_ref().is_some_and(|it| it.starts_with(package));
    of("toolwire.brokerage.") || of("toolwire.research.")
}

#[tokio::test]
async fn every_answer_passes_the_checks_untouched() {
    let turn = Turn::new();
    let mut calls = more().into_iter().map(|(tool, input)| (tool.to_owned(), input)).collect::<Vec<_>>();
    let mut tools = BTreeSet::new();
    for tool in turn.offer.tools().iter().map(|tool| &tool.definition) {
        let is_read = tool.category == Category::Read && matches!(tool.status, Status::Ready);
        if is_read && is_of_domain(tool) {
            tools.insert(tool.name.to_string());
            calls.extend(tool.examples.iter().map(|it| (tool.name.to_string(), it.arguments.clone().into())));
        }
    }
    assert!(!tools.is_empty());
    let mut answered = 0;
    for (tool, arguments) in calls {
        let made = turn.make(&tool, arguments.clone()).await;
        if made.result.outcome.is_err() {
            continue;
        }
        let what = format!("{tool} {arguments}");
        turn.answer("How is it?", &[made]).await.passes_untouched(&what);
        tools.remove(&tool);
        answered += 1;
    }
    println!("embedded answers that pass untouched: {answered} of {answered}");
    assert!(tools.is_empty(), "never answered: {tools:?}");
}

#[tokio::test]
async fn every_intent_has_the_context_of_the_specification() {
    let turn = Turn::new();
    let symbol = || json!({"symbol": "AAPL"});
    for (tool, arguments, message, kind) in [
        ("get_activity", json!({}), "", "ActivityContext"),
        ("get_positions", symbol(), "", "PositionsContext"),
        ("get_positions_list", json!({}), "", "PositionsListContext"),
        ("get_performance", json!({"timeframe": "YTD"}), "", "PerformanceContext"),
        ("get_performance_with_transfers", json!({"timeframe": "YTD"}), "", "PerformanceContext"),
        ("get_quotes", symbol(), "", "QuotesContext"),
        ("get_facts", json!({"topic": "roth"}), "", "FactsContext"),
        ("get_transfers", json!({}), "", "TransfersContext"),
        ("get_account_summary", json!({}), "What am I worth?", "AccountValueContext"),
        ("get_account_summary", json!({}), "How much cash is there?", "CashBalanceContext"),
        ("get_symbol_performance", symbol(), "", "SymbolPerformanceContext"),
        ("rank_portfolio", json!({}), "", "PortfolioRankingContext"),
        ("get_technicals", json!({"symbol": "INFY"}), "", "ResultContext"),
    ] {
        let made = turn.make(tool, arguments).await;
        let answered = turn.answer(message, std::slice::from_ref(&made)).await;
        let item = &answered.bundle.items[0];
        assert_eq!(
            (item.kind.as_str(), item.as_of.as_str()),
            (kind, &*made.result.provenance.as_of),
            "{tool}"
        );
        assert_eq!(answered.bundle.source_ids, made.result.provenance.source_ids);
    }
    let held = turn.answer("", &[turn.make("get_positions", symbol()).await]).await.bundle;
    assert_eq!(
        [&held.items[0].data["found"], &held.items[0].data["position"]["symbol"]],
        [&json!(true), &json!("AAPL")]
    );
    let not_held = turn.make("get_positions", json!({"symbol": "tsla"})).await;
    let not_held = turn.answer("", &[not_held]).await;
    assert_eq!(
        [&not_held.bundle.items[0].data["found"], &not_held.bundle.items[0].data["symbol"]],
        [&json!(false), &json!("TSLA")]
    );
    assert!(not_held.text.contains("does not hold TSLA"), "{}", not_held.text);
    let flows = turn.make("get_performance_with_transfers", json!({"timeframe": "YTD"})).await;
    let flows = turn.answer("", &[flows]).await.bundle;
    assert_eq!(flows.items[0].data["transfers"].as_array().map(Vec::len), Some(3));
}

#[tokio::test]
async fn results_stand_one_after_the_other_and_what_failed_is_said() {
    let turn = Turn::new();
    let mut limited = ToolError::new(ErrorCode::RateLimited, "Reddit's limit is reached; call again in 30 s");
    limited.retry_after = Some(std::time::Duration::from_secs(30));
    let made = [
        turn.make("get_quotes", json!({"symbol": "AAPL"})).await,
        turn.make("get_technicals", json!({"symbol": "INFY"})).await,
        failure("get_reddit_mentions", limited),
        turn.make("get_quotes", json!({"symbol": "NOSUCH"})).await,
    ];
    let answered = turn.answer("How are AAPL and INFY?", &made).await;
    answered.passes_untouched("four calls");
    assert_eq!(answered.citations, ["tool:quotes:v1", "tool:yahoo:v1"]);
    for part in
        ["**AAPL** is at $193.12", "**INFY** closed at", "(AAPL). Reddit", "call again in 30 s.", "NOSUCH"]
    {
        assert!(answered.text.contains(part), "{part}: {}", answered.text);
    }
    let nothing = turn.answer("Hello", &[]).await;
    assert_eq!((nothing.text.as_str(), nothing.issue), ("I have nothing to answer from.", None));
}

#[tokio::test]
async fn a_tool_without_a_template_is_answered_by_its_summary_and_a_table() {
    let turn = Turn::new();
    // The server's own tools have none.
    let data = json!({"rows": (0..12).map(|at| json!({"name": format!("n{at}"), "size": at * 1000})).collect::<Vec<_>>()});
    let result = ToolResult {
        tool: "plan_next_steps".parse().unwrap(),
        fetched_at: std::time::SystemTime::UNIX_EPOCH,
        outcome: Ok(toolwire::contract::Payload::from_json(data)),
        provenance: toolwire::contract::Provenance::of("tool:x:v1", "2026-01-15"),
        kept: None,
    };
    let call = PlannedCall {
        tool: "plan_next_steps".to_owned(),
        arguments: Map::new(),
        reason: String::new(),
        by_model: None,
    };
    let answered = turn.answer("", &[ExecutedCall { call, result: Arc::new(result) }]).await;
    answered.passes_untouched("a table");
    let rows = answered.text.lines().filter(|line| line.starts_with("| n")).count();
    assert_eq!(rows, 1 + 8, "{}", answered.text);
    assert!(answered.text.contains("The first eight of 12 are shown"), "{}", answered.text);
}

#[tokio::test]
async fn a_list_that_is_cut_says_so_and_whose_result_has_it_whole() {
    let turn = Turn::new();
    let made = turn.make("get_activity", json!({})).await;
    let answered = turn.answer("What did I trade?", &[made]).await;
    answered.passes_untouched("trades");
    let cut = "The first eight of 42 are shown [tool:activity:v1].";
    assert!(answered.text.contains(cut), "{}", answered.text);
}

/// The names of tools and parameters in an answer: what a person cannot say or type.
fn names_in(text: &str, offer: &Offer, values: &Value) -> Vec<String> {
    let definitions = || offer.tools().iter().map(|tool| &tool.definition);
    let properties = |schema: &Value| schema["properties"].as_object().cloned().unwrap_or_default();
    let parameters: BTreeSet<_> =
        definitions().flat_map(|it| properties(&it.input_schema).into_iter()).map(|(name, _)| name).collect();
    let tools: BTreeSet<_> = definitions().map(|it| it.name.to_string()).collect();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // A value of the data may have the same word, such as the rules `value`.
    let is_value = |word: &str| values.as_object().is_some_and(|all| all.values().any(|value| value == word));
    let words = text
        .split(|c: char| !is_name(c))
        .filter(|word| tools.contains(*word) || (word.contains('_') && parameters.contains(*word)));
    let code =
        text.split('`').skip(1).step_by(2).filter(|code| parameters.contains(*code) && !is_value(code));
    let set = parameters.iter().filter(|name| text.contains(&format!("{name}=")));
    words.chain(code).map(ToOwned::to_owned).chain(set.cloned()).collect()
}

#[tokio::test]
async fn no_answer_has_the_name_of_a_tool_or_a_parameter() {
    let turn = Turn::new();
    let mut calls = more().into_iter().map(|(tool, input)| (tool.to_owned(), input)).collect::<Vec<_>>();
    for tool in turn.offer.tools().iter().map(|tool| &tool.definition) {
        if tool.category == Category::Read && matches!(tool.status, Status::Ready) && is_of_domain(tool) {
            calls.extend(tool.examples.iter().map(|it| (tool.name.to_string(), it.arguments.clone().into())));
        }
    }
    for (tool, input) in [
        ("browse_watchlist", json!({})),
        ("browse_watchlist", json!({"source": "screener"})),
        ("get_news", json!({"symbol": "TCS", "limit": 1})),
        ("browse_reddit", json!({"limit": 1})),
        ("get_activity", json!({"limit": 2})),
        ("get_activity", json!({"since": "2025-02-01", "until": "2025-01-01"})),
        ("backtest_filter", json!({"symbols": ["TCS"], "from": "2026-11-27"})),
        ("compare_stocks", json!({"symbols": ["TCS", "TCS"]})),
        ("get_technicals", json!({"symbol": "TCS, INFY"})),
    ] {
        calls.push((tool.to_owned(), input));
    }
    let mut wrong = Vec::new();
    for (tool, arguments) in calls {
        let made = turn.make(&tool, arguments.clone()).await;
        let values = made.result.outcome.as_ref().map(|data| data.json().clone()).unwrap_or_default();
        let answered = turn.answer("How is it?", &[made]).await;
        let names = names_in(&answered.text, &turn.offer, &values);
        if !names.is_empty() {
            wrong.push(format!("{tool} {arguments}: {names:?} in {}", answered.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[tokio::test]
async fn what_was_written_is_said_once_in_a_sentence() {
    let turn = Turn::new();
    let mut said = Vec::new();
    for (tool, arguments) in [
        ("add_to_watchlist", json!({"symbol": "RELIANCE"})),
        ("add_to_watchlist", json!({"symbol": "RELIANCE"})),
        ("add_to_watchlist", json!({"symbol": "RELIANCE", "note": "after the results"})),
        ("remove_from_watchlist", json!({"symbol": "RELIANCE"})),
        ("remove_from_watchlist", json!({"symbol": "RELIANCE"})),
    ] {
        let made = turn.make(tool, arguments).await;
        let answered = turn.answer("", &[made]).await;
        answered.passes_untouched(tool);
        said.push(answered.text);
    }
    let expected = [
        "**RELIANCE** is on your watch-list now; 1 stock is on it [tool:watchlist:v1].",
        "**RELIANCE** was on your watch-list already [tool:watchlist:v1].",
        "**RELIANCE** was on your watch-list already; its note is replaced [tool:watchlist:v1].",
        "**RELIANCE** is off your watch-list now; 0 stocks are left on it [tool:watchlist:v1].",
        "Note: RELIANCE was not on the watch-list. [tool:watchlist:v1]",
    ];
    assert_eq!(said, expected);
}

#[tokio::test]
async fn what_the_budget_leaves_out_is_named_and_cites_nothing() {
    let turn = Turn::new();
    let cut =
        ToolError::new(ErrorCode::Unavailable, "not called: this turn may make 1 calls, and has made them");
    let made = [turn.make("get_quotes", json!({"symbol": "MSFT"})).await, failure("get_quotes", cut)];
    let answered = turn.answer("", &made).await;
    answered.passes_untouched("a cut");
    let expected = "Left out: Quotes (AAPL). This turn may make no more calls.";
    assert!(answered.text.ends_with(expected), "{}", answered.text);
}

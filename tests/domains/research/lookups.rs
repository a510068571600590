//! Which stock a text names: however it is written, never by accident, and with what was probably meant.

use serde_json::{Value, json};
use toolwire::{
    contract::{ErrorCode, ToolResult},
    engine::registry::Definition,
};

use super::support::{Research, data};

/// Every word that a result says to its reader: of its error, or of its warnings.
fn said(result: &ToolResult) -> String {
    let error = result.outcome.as_ref().err();
    let violations = error.into_iter().flat_map(|error| &error.violations).map(|it| it.description.as_str());
    let message = error.map(|error| error.message.as_str());
    let warnings = result.provenance.warnings.iter().map(String::as_str);
    message.into_iter().chain(violations).chain(warnings).collect::<Vec<_>>().join("\n")
}

/// Whether a tool is one of those with data of their own: not one that works on tasks, documents or the web.
fn has_data(tool: &Definition) -> bool {
    !tool.tags.iter().any(|tag| tag == "orchestration")
}

/// The first example of each tool that takes a stock, with other stocks in it.
fn about(research: &Research, stocks: &[&str]) -> Vec<(String, Value)> {
    let snapshot = research.app.registry.snapshot();
    let mut calls = Vec::new();
    for tool in snapshot.tools().filter(|tool| has_data(&tool.definition)) {
        let mut arguments = Value::from(tool.definition.examples[0].arguments.clone());
        let properties = tool.definition.input_schema["properties"].clone();
        match ["symbol", "symbols", "query"].into_iter().find(|name| properties.get(name).is_some()) {
            Some("symbols") => arguments["symbols"] = json!(stocks),
            Some(name) => arguments[name] = json!(stocks[0]),
            None => continue,
        }
        calls.push((tool.definition.name.to_string(), arguments));
    }
    calls
}

#[tokio::test]
async fn spellings_of_one_stock_share_its_cache_entry() {
    let research = Research::embedded();
    for (tool, parameter, first, others) in [
        (
            "get_technicals",
            "symbol",
            "RELIANCE",
            ["reliance", " RELIANCE.NS", "NSE:RELIANCE", "reliance industries"],
        ),
        ("get_fundamentals", "symbol", "TCS.NS", ["TCS", "tcs", "tcs.ns", "Tata Consultancy Services Ltd."]),
        ("get_stock_thesis", "query", "Infosys Ltd", ["INFY", "infosys", "Infosys", "infy.ns"]),
        ("get_technicals", "symbol", "LT", ["L&T", "nse:lt", "Larsen & Toubro", "l & t"]),
        ("get_news", "symbol", "M&M", ["m&m", "M & M", "Mahindra & Mahindra", "mahindra and mahindra ltd"]),
    ] {
        let fresh = research.call(tool, json!({parameter: first})).await;
        assert_eq!(fresh.provenance.cached_for, None, "{tool} {first}");
        let fresh = data(fresh);
        for other in others {
            let result = research.call(tool, json!({parameter: other})).await;
            assert!(result.provenance.cached_for.is_some(), "{tool} {other}: {}", said(&result));
            assert_eq!(data(result), fresh, "{tool} {other}");
        }
    }
    let spelled = |symbols: Value| json!({"symbols": symbols, "from": "2025-01-01"});
    data(research.call("backtest_filter", spelled(json!(["RELIANCE", "TCS"]))).await);
    let again = research.call("backtest_filter", spelled(json!(["reliance.ns", "tcs"]))).await;
    assert!(again.provenance.cached_for.is_some(), "{}", said(&again));
}

#[tokio::test]
async fn a_price_of_the_bse_is_never_that_of_the_nse() {
    let research = Research::embedded();
    let calls = about(&research, &["RELIANCE.BO", "TCS"]);
    for (tool, arguments) in &calls {
        let result = research.call(tool, arguments.clone()).await;
        let error = result.outcome.as_ref().expect_err(tool);
        let is_brokerage = error.code == ErrorCode::NotFound;
        assert!(is_brokerage || said(&result).contains("traded on the BSE"), "{tool}: {}", said(&result));
        assert!(is_brokerage || said(&result).contains("Give 'RELIANCE'"), "{tool}: {}", said(&result));
    }
}

#[tokio::test]
async fn every_tool_that_takes_a_stock_says_what_was_probably_meant() {
    let research = Research::embedded();
    let calls = about(&research, &["RELIANC", "TATAMOTRS"]);
    assert!(!calls.is_empty());
    // A stock of India, and one of the brokerage.
    for (tool, arguments) in calls {
        let is_brokerage = research.call(&tool, arguments.clone()).await;
        let result =
            match is_brokerage.outcome.as_ref().err().filter(|it| it.message.contains("Known symbols")) {
                Some(_) => research.call(&tool, json!({"symbol": "APPL"})).await,
                None => is_brokerage,
            };
        assert!(said(&result).contains("Did you mean"), "{tool}: {} {:?}", said(&result), result.outcome);
    }
}

#[tokio::test]
async fn an_unknown_stock_never_looks_like_one_of_which_nothing_is_said() {
    let research = Research::embedded();
    let calls = about(&research, &["ZZZZ", "QQQQ"]);
    assert!(!calls.is_empty());
    for (tool, arguments) in calls {
        let result = research.call(&tool, arguments).await;
        assert!(said(&result).contains("Unknown symbol 'ZZZZ'"), "{tool}: {}", said(&result));
    }
    let nobody = research.call("get_insider_trading", json!({"symbol": "ZZZZ"})).await;
    assert!(said(&nobody).contains("an empty answer says nothing of it"), "{}", said(&nobody));
    // One that is known and of which nothing is said: a true zero.
    let known = research.call("get_insider_trading", json!({"symbol": "RELIANCE", "days": 1})).await;
    assert!(!said(&known).contains("Unknown symbol"), "{}", said(&known));
}

#[tokio::test]
async fn a_topic_is_found_by_its_own_slug() {
    let research = Research::embedded();
    for category in ["latest", "top"] {
        let listed =
            data(research.call("browse_valuepickr", json!({"category": category, "limit": 25})).await);
        for topic in listed["topics"].as_array().expect("a list") {
            let slug = topic["slug"].as_str().expect("a slug");
            let thesis = data(research.call("get_stock_thesis", json!({"query": slug})).await);
            let url = thesis["topic_url"].as_str().unwrap_or_default();
            assert!(url.contains(&format!("/t/{slug}/")), "{slug}: {thesis}");
        }
    }
}

#[tokio::test]
async fn no_thesis_is_found_by_accident() {
    let research = Research::embedded();
    for (query, words) in [
        ("IT", "Did you mean ITC"),
        ("bank", "HDFCBANK (HDFC Bank)"),
        ("Tata", "'Tata' may be one of several stocks. Did you mean TATAELXSI"),
        ("Larsen", "Did you mean LT (Larsen & Toubro)?"),
    ] {
        let result = research.call("get_stock_thesis", json!({"query": query})).await;
        assert!(said(&result).contains(words), "{query}: {}", said(&result));
        assert_eq!(data(result)["found"], false, "{query}");
    }
    for (query, slug) in [
        ("Infosys Ltd", "infosys-margins-mega-deals-and-capital-allocation"),
        ("Reliance Industries Limited", "reliance-industries-energy-to-consumer-platforms"),
        ("HDFC Bank", "hdfc-bank-after-the-merger"),
    ] {
        let thesis = data(research.call("get_stock_thesis", json!({"query": query})).await);
        let url = thesis["topic_url"].as_str().unwrap_or_default();
        assert!(url.contains(slug), "{query}: {thesis}");
    }
}

#[tokio::test]
async fn a_name_of_several_stocks_is_refused_naming_them() {
    let research = Research::embedded();
    for tool in ["get_technicals", "get_news", "get_reddit_mentions", "add_to_watchlist"] {
        let result = research.call(tool, json!({"symbol": "Tata"})).await;
        let code = result.outcome.as_ref().expect_err(tool).code;
        assert_eq!(code, ErrorCode::NotFound, "{tool}");
        assert!(said(&result).contains("TATAMOTORS (Tata Motors)"), "{tool}: {}", said(&result));
    }
}

#[tokio::test]
async fn one_unknown_stock_of_several_is_a_warning_beside_the_others() {
    let research = Research::embedded();
    for (tool, extra) in [("compare_stocks", json!({})), ("backtest_filter", json!({"from": "2025-01-01"}))] {
        let with = |symbols: Value| {
            let mut arguments = extra.clone();
            arguments["symbols"] = symbols;
            arguments
        };
        // One that no source knows, and one that can be no symbol.
        for unknown in ["TATAMOTRS", "No such mill!"] {
            let result = research.call(tool, with(json!(["RELIANCE", unknown, "TCS"]))).await;
            let warnings = result.provenance.warnings.join("\n");
            assert!(warnings.contains(&format!("Unknown symbol '{unknown}'.")), "{tool}: {warnings}");
            let data = data(result);
            if tool == "compare_stocks" {
                assert_eq!(
                    (&data["symbols"], &data["missing"]),
                    (&json!(["RELIANCE", "TCS"]), &json!([unknown]))
                );
            } else {
                assert!(data["trades"].as_array().is_some_and(|trades| !trades.is_empty()), "{data}");
            }
        }
        let none = research.call(tool, with(json!(["TATAMOTRS", "No such mill!"]))).await;
        assert_eq!(none.outcome.as_ref().expect_err(tool).code, ErrorCode::NotFound, "{tool}");
        assert!(said(&none).contains("Did you mean TATAMOTORS"), "{tool}: {}", said(&none));
    }
}

#[tokio::test]
async fn every_success_names_its_sources() {
    let research = Research::embedded();
    let snapshot = research.app.registry.snapshot();
    for tool in snapshot.tools().filter(|tool| has_data(&tool.definition)) {
        let name = &tool.definition.name;
        for example in &tool.definition.examples {
            let result = research.call(name, Value::from(example.arguments.clone())).await;
            let sources = result.provenance.source_ids.clone();
            data(result);
            assert!(!sources.is_empty(), "{name} has no source");
            let is_id = |id: &String| id.starts_with("tool:") && id.ends_with(":v1");
            assert!(sources.iter().all(is_id), "{name}: {sources:?}");
        }
    }
}

/// Several symbols are not one that is misspelled.
#[tokio::test]
async fn several_symbols_where_one_is_taken_are_told_so() {
    let research = Research::embedded();
    for several in ["INFY,TCS", "INFY TCS", "infy; tcs", "INFY and TCS", "INFY/TCS"] {
        let (one, query) = (json!({"symbol": several}), json!({"query": several}));
        let list = json!({"symbols": [several, "RELIANCE"]});
        for (tool, arguments, next) in [
            ("get_technicals", &one, "compare the stocks to see them side by side"),
            ("get_fundamentals", &one, "compare the stocks to see them side by side"),
            ("get_news", &one, "are 2. Call once for each."),
            ("remove_from_watchlist", &one, "are 2. Call once for each."),
            ("get_stock_thesis", &query, "are 2. Call once for each."),
            ("compare_stocks", &list, "Give each as an element of its own"),
            ("backtest_filter", &list, "Give each as an element of its own"),
        ] {
            let said = said(&research.call(tool, arguments.clone()).await);
            assert!(said.contains("takes one symbol, and INFY and TCS are 2."), "{tool} {several}: {said}");
            assert!(said.contains(next), "{tool} {several}: {said}");
        }
    }
}

//! Sources whose parts contradict each other: repaired or warned about, and what rests on them is not concluded.

use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use toolwire::{base::clock, contract::ToolResult};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{path, path_regex},
};

use super::support::{Research, data};

const DAY: u64 = 86_400;
const DAYS: usize = 300;
/// The first day in the new shares.
const SPLIT: usize = 280;

/// The days up to now.
fn days() -> Vec<u64> {
    let now = clock::wall().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
    (1..=DAYS as u64).rev().map(|days| now - DAY * days).collect()
}

/// Prices that go up and down by two percent at most, the same each time, and a little up in the end.
fn prices() -> Vec<f64> {
    let mut state = 5_u64;
    let mut price = 100.0;
    let mut prices = vec![price];
    while prices.len() < DAYS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let change = f64::from(u32::try_from(state >> 40).expect("24 bits")) / f64::from(1_u32 << 24);
        price = f64::round(price * (1.0 + (change - 0.49) / 25.0) * 100.0) / 100.0;
        prices.push(price);
    }
    prices
}

/// A chart of closes and adjusted closes, of which the last close is the market price.
fn chart(closes: &[f64], adjusted: &[f64]) -> Value {
    let days = days();
    json!({
        "meta": {"currency": "INR", "gmtoffset": 19800, "regularMarketPrice": closes[closes.len() - 1],
            "regularMarketTime": days[DAYS - 1]},
        "timestamp": days,
        "indicators": {
            "quote": [{"close": closes, "volume": vec![1000; closes.len()]}],
            "adjclose": [{"adjclose": adjusted}],
        },
    })
}

/// With a split of ten for one.
fn split(mut chart: Value) -> Value {
    let date = chart["timestamp"][SPLIT].clone();
    chart["events"] =
        json!({"splits": {"1": {"date": date, "numerator": 10, "denominator": 1, "splitRatio": "10:1"}}});
    chart
}

/// The prices, as they were in the old shares.
fn raw() -> Vec<f64> {
    let prices = prices().into_iter().enumerate();
    prices.map(|(day, price)| if day < SPLIT { price * 10.0 } else { price }).collect()
}

/// The service over a chart, and a summary of its fundamentals.
async fn over(chart: &Value, summary: &Value) -> (Research, MockServer) {
    let server = MockServer::start().await;
    let crumb = ResponseTemplate::new(200).set_body_string("abcdefghijk");
    let warm = ResponseTemplate::new(404).insert_header("set-cookie", "A3=x; path=/");
    let envelope = |result: &Value| json!({"result": [result], "error": null});
    let chart = ResponseTemplate::new(200).set_body_json(json!({"chart": envelope(chart)}));
    let summary = ResponseTemplate::new(200).set_body_json(json!({"quoteSummary": envelope(summary)}));
    Mock::given(path_regex("getcrumb$")).respond_with(crumb).mount(&server).await;
    Mock::given(path("/")).respond_with(warm).mount(&server).await;
    Mock::given(path_regex("/chart/")).respond_with(chart).mount(&server).await;
    Mock::given(path_regex("/quoteSummary/")).respond_with(summary).mount(&server).await;
    (Research::against("yahoo", &server.uri()), server)
}

async fn ask(tool: &str, chart: &Value) -> ToolResult {
    let (research, _server) = over(chart, &json!({"summaryDetail": {"currency": "INR"}})).await;
    let arguments = match tool {
        "backtest_filter" => json!({"symbols": ["RELIANCE"]}),
        _ => json!({"symbol": "RELIANCE"}),
    };
    research.call(tool, arguments).await
}

/// What a result warns of beside how old and how short its data is.
fn doubts(result: &ToolResult) -> Vec<&str> {
    let is_doubt = |words: &&str| words.contains("Yahoo Finance");
    result.provenance.warnings.iter().map(String::as_str).filter(is_doubt).collect()
}

#[tokio::test]
async fn a_split_that_is_listed_and_not_applied_is_applied_and_said_to_be() {
    let prices = prices();
    let adjusted = split(chart(&prices, &prices));
    let charts = [
        ("adjusted closes are right", split(chart(&raw(), &prices))),
        ("adjusted closes are not either", split(chart(&raw(), &raw()))),
        ("no adjusted closes", split(chart(&raw(), &[]))),
    ];
    for tool in ["get_technicals", "check_wait_zone", "backtest_filter"] {
        let right = ask(tool, &adjusted).await;
        assert_eq!(doubts(&right), [""; 0], "{tool}");
        let right = data(right);
        for (what, chart) in &charts {
            let result = ask(tool, chart).await;
            let warnings = doubts(&result);
            assert!(
                warnings.len() == 1 && warnings[0].contains("(10 shares for 1) and did not apply it"),
                "{tool}, {what}: {warnings:?}"
            );
            assert_eq!(data(result), right, "{tool}, {what}");
        }
    }
}

#[tokio::test]
async fn a_split_that_is_not_listed_leaves_a_history_that_is_too_short() {
    let prices = prices();
    // Of shares that become ten, prices alone tell; of those that become two, the adjusted closes do.
    let halves: Vec<_> = prices
        .iter()
        .enumerate()
        .map(|(day, price)| if day < SPLIT { price * 2.0 } else { *price })
        .collect();
    for chart in [chart(&raw(), &[]), chart(&halves, &prices)] {
        let result = ask("get_technicals", &chart).await;
        let warnings = doubts(&result);
        assert!(warnings.len() == 1 && warnings[0].contains("are left out"), "{warnings:?}");
        let technicals = data(result);
        assert_eq!((&technicals["days"], &technicals["sma_50"]), (&json!(20), &Value::Null), "{technicals}");
        let zone = data(ask("check_wait_zone", &chart).await);
        assert_eq!(zone["is_wait_zone"], true);
        assert!(zone["reasons"].to_string().contains("insufficient history: SMA200 needs 200"), "{zone}");
    }
}

#[tokio::test]
async fn where_nothing_tells_which_part_is_right_nothing_is_concluded() {
    let prices = prices();
    let last = prices[DAYS - 1];
    let with = |field: &str, value: f64| {
        let mut chart = chart(&prices, &prices);
        chart["meta"][field] = json!(value);
        chart
    };
    let mut of_year = with("fiftyTwoWeekHigh", last / 2.0);
    of_year["meta"]["fiftyTwoWeekLow"] = json!(last / 4.0);
    for chart in [with("regularMarketPrice", last * 10.0), with("regularMarketPrice", last / 2.0), of_year] {
        let result = ask("get_technicals", &chart).await;
        assert_eq!(doubts(&result).len(), 1, "{:?}", result.provenance);
        let technicals = data(result);
        for figure in ["rsi_14", "sma_50", "sma_200", "price_vs_sma50_pct", "price_vs_sma200_pct"] {
            assert_eq!(technicals[figure], Value::Null, "{technicals}");
        }
        let result = ask("check_wait_zone", &chart).await;
        assert_eq!(doubts(&result).len(), 1);
        let zone = data(result);
        assert_eq!(zone["is_wait_zone"], true);
        assert!(
            zone["reasons"][0].as_str().unwrap().starts_with("insufficient data: Yahoo Finance states"),
            "{zone}"
        );
        let forbidden = data(ask("check_forbidden", &chart).await);
        let unknown = forbidden["unknown"].as_array().unwrap();
        let of_prices =
            unknown.iter().filter(|rule| rule["reason"].as_str().unwrap().starts_with("insufficient data"));
        let rules: Vec<_> = of_prices.map(|rule| &rule["rule"]).collect();
        assert!(rules.contains(&&json!("min_price")) || rules.contains(&&json!("max_rsi")), "{forbidden}");
        let backtest = ask("backtest_filter", &chart).await.outcome.unwrap_err();
        assert!(backtest.message.contains("insufficient data"), "{backtest}");
    }
}

#[tokio::test]
async fn what_agrees_is_not_doubted() {
    let prices = prices();
    let last = prices[DAYS - 1];
    let mut dividend = chart(&prices, &prices);
    // Half of the price is paid out on one day; the adjusted closes know of it.
    let paid: Vec<_> = prices
        .iter()
        .enumerate()
        .map(|(day, price)| if day < SPLIT { price * 2.0 } else { *price })
        .collect();
    let amount = paid[SPLIT - 1] - prices[SPLIT];
    dividend["indicators"]["quote"][0]["close"] = json!(paid);
    dividend["events"] =
        json!({"dividends": {"1": {"date": dividend["timestamp"][SPLIT], "amount": amount}}});
    let mut live = chart(&prices, &prices);
    live["meta"]["regularMarketPrice"] = json!(last * 1.03);
    live["meta"]["fiftyTwoWeekHigh"] = json!(prices.iter().copied().fold(0.0, f64::max));
    live["meta"]["fiftyTwoWeekLow"] = json!(prices.iter().copied().fold(f64::MAX, f64::min));
    let mut to_come = chart(&prices, &prices);
    let tomorrow = to_come["timestamp"][DAYS - 1].as_u64().unwrap() + 2 * DAY;
    to_come["events"] = json!({"splits": {"1": {"date": tomorrow, "numerator": 10, "denominator": 1}}});
    for chart in [dividend, live, to_come] {
        let result = ask("get_technicals", &chart).await;
        assert_eq!(doubts(&result), [""; 0]);
        assert_eq!(data(result)["days"], 300);
    }
}

#[tokio::test]
async fn rows_out_of_order_and_rows_of_one_day_are_put_in_order() {
    let prices = prices();
    let right = data(ask("get_technicals", &chart(&prices, &prices)).await);
    let mut shuffled = chart(&prices, &prices);
    for column in ["/timestamp", "/indicators/quote/0/close", "/indicators/adjclose/0/adjclose"] {
        let column = shuffled.pointer_mut(column).unwrap().as_array_mut().unwrap();
        let twice = column[100].clone();
        column.push(twice);
        column.swap(3, 250);
        column.reverse();
    }
    assert_eq!(data(ask("get_technicals", &shuffled).await), right);
}

#[tokio::test]
async fn one_value_of_a_chart_never_costs_the_others() {
    let prices = prices();
    let right = data(ask("get_technicals", &chart(&prices, &prices)).await);
    let with = |pointer: &str, value: Value| {
        let mut chart = chart(&prices, &prices);
        *chart.pointer_mut(pointer).unwrap() = value;
        chart
    };
    let floats: Vec<_> =
        days().into_iter().map(|day| json!(f64::from(u32::try_from(day).unwrap()))).collect();
    // What is not read at all, or is the same in another form, changes nothing.
    for (what, chart) in [
        ("float timestamps", with("/timestamp", floats.into())),
        ("texts in place of volumes", with("/indicators/quote/0/volume", json!(vec!["1000"; DAYS]))),
        ("no volumes", with("/indicators/quote/0/volume", json!("none"))),
        ("an adjusted close fewer", with("/indicators/adjclose/0/adjclose", json!(&prices[1..]))),
        ("a text as price", with("/indicators/quote/0/close/7", json!(prices[7].to_string()))),
        ("an offset as text", with("/meta/gmtoffset", json!("19800"))),
    ] {
        assert_eq!(data(ask("get_technicals", &chart).await), right, "{what}");
    }
    // What costs one day.
    for (what, chart) in [
        ("an object as price", with("/indicators/quote/0/close/7", json!({}))),
        ("a text as timestamp", with("/timestamp/7", json!("soon"))),
        ("a timestamp beyond all years", with("/timestamp/7", json!(1e15))),
        ("a price of zero", with("/indicators/quote/0/close/7", json!(0))),
        ("a price fewer", with("/indicators/quote/0/close", json!(&prices[..DAYS - 1]))),
        ("a day fewer", with("/timestamp", json!(&days()[1..]))),
    ] {
        let technicals = data(ask("get_technicals", &chart).await);
        assert_eq!(technicals["days"], 299, "{what}");
        assert!(technicals["sma_200"].is_number(), "{what}: {technicals}");
    }
    let broken = json!({"chart": {"result": [chart(&prices, &prices)], "error": null}}).to_string();
    let price = prices[7].to_string();
    for bare in ["Infinity", "NaN", "1e999"] {
        let server = MockServer::start().await;
        let body = broken.replacen(&format!(",{price},"), &format!(",{bare},"), 1);
        assert_ne!(body, broken);
        let response = ResponseTemplate::new(200).set_body_raw(body, "application/json");
        Mock::given(path_regex("/chart/")).respond_with(response).mount(&server).await;
        let research = Research::against("yahoo", &server.uri());
        let result = research.call("get_technicals", json!({"symbol": "RELIANCE"})).await;
        assert!(
            result.provenance.warnings.iter().any(|words| words.starts_with("1 value in the answer")),
            "{bare}"
        );
        assert_eq!(data(result)["days"], 299, "{bare}");
    }
}

#[tokio::test]
async fn fundamentals_that_contradict_each_other_are_left_out_and_no_rule_rests_on_them() {
    let prices = prices();
    let chart = chart(&prices, &prices);
    let summary = |pe: f64, cap: f64, currency: &str| {
        json!({
            "summaryDetail": {"currency": currency, "trailingPE": pe, "marketCap": cap},
            "financialData": {"currentPrice": 100, "returnOnEquity": 0.2, "debtToEquity": 30},
            "defaultKeyStatistics": {"trailingEps": 5, "sharesOutstanding": 1e9},
        })
    };
    let judged = async |summary: Value| {
        let (research, _server) = over(&chart, &summary).await;
        let fundamentals = research.call("get_fundamentals", json!({"symbol": "RELIANCE"})).await;
        let warnings = fundamentals.provenance.warnings.iter();
        let contradictions = warnings.filter(|words| words.starts_with("insufficient data: ")).count();
        let fundamentals = data(fundamentals);
        let forbidden = data(research.call("check_forbidden", json!({"symbol": "RELIANCE"})).await);
        let unknown = forbidden["unknown"].as_array().unwrap().iter();
        let unknown =
            unknown.filter(|rule| rule["reason"].as_str().unwrap().starts_with("insufficient data: "));
        let rules: Vec<_> = unknown.map(|rule| rule["rule"].as_str().unwrap().to_owned()).collect();
        (fundamentals, contradictions, rules)
    };
    let (fundamentals, contradictions, rules) = judged(summary(20.0, 1e11, "INR")).await;
    assert_eq!(
        (fundamentals["pe"].as_f64(), fundamentals["market_cap_cr"].as_f64()),
        (Some(20.0), Some(1e4))
    );
    assert_eq!((contradictions, rules.len()), (0, 0), "{rules:?}");
    let (fundamentals, contradictions, rules) = judged(summary(200.0, 1e12, "INR")).await;
    assert_eq!((&fundamentals["pe"], &fundamentals["market_cap_cr"]), (&Value::Null, &Value::Null));
    assert_eq!(contradictions, 2);
    assert!(
        rules.iter().any(|rule| rule == "min_market_cap_cr")
            && rules.iter().any(|rule| rule.ends_with("_pe")),
        "{rules:?}"
    );
    let (_, _, rules) = judged(summary(20.0, 1e11, "USD")).await;
    assert!(rules.iter().any(|rule| rule == "min_market_cap_cr"), "{rules:?}");
    assert!(!rules.iter().any(|rule| rule.ends_with("_pe")), "{rules:?}");
}

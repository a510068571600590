//! What the tools refuse, and what they make of sources that fail.

use std::{pin::pin, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    select,
    time::{advance, pause},
};
use toolwire::domains::research::settings::Profiles;
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{any, path},
};

use super::support::{Bases, Bench};

#[tokio::test]
async fn arguments_beyond_the_schema_are_refused() {
    let bench = Bench::new();
    let many: Vec<_> = (0..51).map(|number| format!("S{number}")).collect();
    let bad = [
        ("get_technicals", json!({}), ""),
        ("get_earnings", json!({"symbol": "TCS", "quarters": 26}), "25"),
        ("compare_stocks", json!({"symbols": ["TCS"]}), "2"),
        ("compare_stocks", json!({"symbols": ["TCS", " tcs.ns"]}), "two to five"),
        ("compare_stocks", json!({"symbols": ["A", "B", "C", "D", "E", "F"]}), "5"),
        ("backtest_filter", json!({"symbols": many}), "50"),
        ("backtest_filter", json!({"symbols": ["TCS"], "from": "2025-02-30"}), "2025-02-30"),
        ("backtest_filter", json!({"symbols": ["TCS"], "from": "soon"}), ""),
        (
            "backtest_filter",
            json!({"symbols": ["TCS"], "from": "2025-06-01", "to": "2025-01-01"}),
            "not before",
        ),
        ("backtest_filter", json!({"symbols": ["TCS"], "holding_days": 0}), "1"),
    ];
    for (tool, input, words) in bad {
        let error = bench.error(tool, input.clone()).await;
        assert_eq!(error.code.into_str(), "INVALID_ARGUMENT", "{tool} {input}: {error:?}");
        assert!(error.message.contains(words), "{tool} {input}: {error:?}");
    }
}

/// A server that always answers the same.
async fn always(response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(any()).respond_with(response).mount(&server).await;
    server
}

#[tokio::test]
async fn another_failure_of_one_stock_is_the_comparisons() {
    let server = always(ResponseTemplate::new(403)).await;
    let yahoo = format!("{}/yahoo/", server.uri()).parse().unwrap();
    let bench = Bench::of(Bases { yahoo, ..Bases::default() }, &Profiles::default());
    let error = bench.error("compare_stocks", json!({"symbols": ["INFY", "TCS"]})).await;
    assert_eq!(error.code.into_str(), "BLOCKED");
    assert!(error.message.contains("Yahoo Finance"), "{}", error.message);
}

#[tokio::test]
async fn without_a_crumb_results_are_those_that_need_none() {
    let server = always(ResponseTemplate::new(404)).await;
    let cookie = format!("{}/", server.uri()).parse().unwrap();
    let bench = Bench::of(Bases { cookie, ..Bases::default() }, &Profiles::default());
    let (data, provenance) = bench.call("get_earnings", json!({"symbol": "TCS"})).await;
    let data = data.unwrap();
    let newest = &data["quarters"][0];
    assert!(newest["revenue_cr"].is_number() && newest["eps_actual"].is_null(), "{newest}");
    assert!(provenance.warnings[0].starts_with("Earnings per share is missing"), "{provenance:?}");
    let error = bench.error("get_fundamentals", json!({"symbol": "TCS"})).await;
    assert_eq!(error.code.into_str(), "BLOCKED", "there the crumb is needed");
}

#[tokio::test]
async fn without_the_exchange_results_are_only_fewer() {
    let server = always(ResponseTemplate::new(503)).await;
    let nse = format!("{}/", server.uri()).parse().unwrap();
    let bench = Bench::of(Bases { nse, ..Bases::default() }, &Profiles::default());
    let (data, provenance) = bench.call("get_earnings", json!({"symbol": "TCS", "quarters": 25})).await;
    assert!(data.unwrap()["quarters"].as_array().unwrap().len() >= 8);
    assert!(provenance.warnings[0].contains("on file is missing: NSE is down"), "{provenance:?}");
    let error = bench.error("get_institutional_holdings", json!({"symbol": "TCS"})).await;
    assert_eq!((error.code.into_str(), error.retryable), ("UNAVAILABLE", true));
}

#[tokio::test]
async fn a_call_that_times_out_tells_how_often_the_source_was_asked() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let yahoo = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let bench = Bench::of(Bases { yahoo, ..Bases::default() }, &Profiles::default());
    let mut call = pin!(bench.call("get_technicals", json!({"symbol": "TCS"})));
    let is_asked = async {
        let (stream, _) = listener.accept().await.unwrap();
        let mut stream = BufReader::new(stream);
        stream.read_line(&mut String::new()).await.unwrap();
        stream
    };
    let _open = select! {
        _ = &mut call => panic!("nobody answers"),
        stream = is_asked => stream,
    };
    pause();
    advance(Duration::from_secs(16)).await;
    let error = call.await.0.unwrap_err();
    assert_eq!((error.code.into_str(), error.attempts), ("TIMEOUT", 1), "{error:?}");
    assert!(error.message.contains("its time-out of 15 s"), "{error}");
}

/// A filing that states the promoters' share, which institutions have the rest of.
fn filing(promoters: f64) -> ResponseTemplate {
    let fact = |kind: &str, share: f64| {
        format!(
            "<xbrli:context id=\"{kind}_ContextI\"/><shp:ShareholdingAsAPercentageOfTotalNumberOfShares \
             contextRef=\"{kind}_ContextI\">{share}</shp:ShareholdingAsAPercentageOfTotalNumberOfShares>"
        )
    };
    let facts = [
        fact("ShareholdingPattern", 1.0),
        fact("ShareholdingOfPromoterAndPromoterGroup", promoters),
        fact("InstitutionsForeign", 0.1),
        fact("InstitutionsDomestic", 0.2),
    ];
    let body = format!("<xbrli:xbrl xmlns:xbrli=\"x\" xmlns:shp=\"y\">{}</xbrli:xbrl>", facts.concat());
    ResponseTemplate::new(200).set_body_raw(body, "application/xml")
}

#[tokio::test]
async fn a_filing_within_the_quarter_hides_no_change_over_it() {
    let server = MockServer::start().await;
    let row = |date: &str, name: &str| json!({"symbol": "TCS", "date": date, "pr_and_prgrp": "60", "xbrl": format!("https://a.example/corporate/{name}.xml")});
    let list = json!([row("31-DEC-2025", "new"), row("14-NOV-2025", "within"), row("30-SEP-2025", "old")]);
    for (at, response) in [
        ("/", ResponseTemplate::new(200).insert_header("set-cookie", "nsit=one")),
        ("/api/corporate-share-holdings-master", ResponseTemplate::new(200).set_body_json(list)),
        ("/corporate/new.xml", filing(0.5)),
        ("/corporate/within.xml", filing(0.3)),
        ("/corporate/old.xml", filing(0.45)),
    ] {
        Mock::given(path(at)).respond_with(response).mount(&server).await;
    }
    let nse = format!("{}/", server.uri()).parse().unwrap();
    let bench = Bench::of(Bases { nse, ..Bases::default() }, &Profiles::default());
    let data = bench.data("get_institutional_holdings", json!({"symbol": "TCS"})).await;
    let change = data["change_qoq"]["promoter_pct"].as_f64().unwrap();
    assert!((change - 5.0).abs() < 1e-9, "{data}");
}

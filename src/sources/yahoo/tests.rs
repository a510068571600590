//! Yahoo in its wire format: what is read of it, and what each of its refusals is taken for.

use std::time::SystemTime;

use chrono::DateTime;
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, header_exists, method, path, query_param},
};

use super::*;
use crate::sources::testing::{client, context};

const CHART: &str = "/yahoo/v8/finance/chart/M&M.NS";
const SUMMARY: &str = "/yahoo/v10/finance/quoteSummary/INFY.NS";
const SERIES: &str = "/yahoo/ws/fundamentals-timeseries/v1/finance/timeseries/INFY.NS";

fn yahoo(server: &MockServer) -> Yahoo {
    let url = |path: &str| format!("{}/{path}/", server.uri()).parse().unwrap();
    let now = SystemTime::from(DateTime::parse_from_rfc3339("2026-01-16T10:00:00Z").unwrap());
    let settings = Settings { base: url("yahoo"), cookie_base: url("yahoo-cookie"), now: Now::Recorded(now) };
    Yahoo::new(client(PROFILE), settings)
}

async fn serve(server: &MockServer, at: &str, response: ResponseTemplate) {
    Mock::given(method("GET")).and(path(at)).respond_with(response).mount(server).await;
}

fn answer(body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

/// Monday to Thursday, 12 to 15 January 2026, at the opening, and a live row of Friday.
fn chart_document() -> Value {
    json!({"chart": {"result": [{
        "meta": {"currency": "INR", "symbol": "M&M.NS", "gmtoffset": 19800, "regularMarketPrice": 104.5},
        "timestamp": [1_768_189_500, 1_768_275_900, 1_768_362_300, 1_768_448_700, 1_768_557_600],
        "events": {"dividends": {}},
        "indicators": {
            "quote": [{
                "open": [100.0, null, 101.0, 102.0, 103.0],
                "close": [100.5, null, 101.5, 102.5, 104.5],
                "volume": [1000, null, null, 3000, 4000],
            }],
            "adjclose": [{"adjclose": [99.5, null, 100.5, 101.5, 104.5]}],
        },
    }], "error": null}})
}

fn between(from: &str, to: &str) -> Span {
    Span::Between { from: from.parse().unwrap(), to: to.parse().unwrap() }
}

#[tokio::test]
async fn days_without_a_price_are_dropped_and_days_are_those_of_the_exchange() {
    let server = MockServer::start().await;
    Mock::given(path(CHART))
        .and(query_param("range", "2y"))
        .and(query_param("interval", "1d"))
        .and(query_param("events", "div,splits"))
        .and(header_exists("user-agent"))
        .respond_with(answer(&chart_document()))
        .mount(&server)
        .await;
    let chart = yahoo(&server).chart("M&M", Span::TwoYears, &context()).await.unwrap();
    assert_eq!(chart.currency.as_deref(), Some("INR"));
    let days: Vec<_> = chart.bars.iter().map(|bar| bar.date.to_string()).collect();
    assert_eq!(days, ["2026-01-12", "2026-01-14", "2026-01-15", "2026-01-16"]);
    let second = chart.bars[1];
    assert_eq!((second.close, second.adjusted_close, second.volume), (101.5, Some(100.5), None));
}

#[tokio::test]
async fn a_live_row_after_the_end_is_not_of_the_span() {
    let server = MockServer::start().await;
    Mock::given(path(CHART))
        .and(query_param("period1", "1768242600"))
        .and(query_param("period2", "1768501800"))
        .respond_with(answer(&chart_document()))
        .mount(&server)
        .await;
    let span = between("2026-01-13", "2026-01-15");
    let chart = yahoo(&server).chart("M&M", span, &context()).await.unwrap();
    let days: Vec<_> = chart.bars.iter().map(|bar| bar.date.to_string()).collect();
    assert_eq!(days, ["2026-01-14", "2026-01-15"]);
}

#[tokio::test]
async fn of_two_rows_of_a_day_the_live_one_holds() {
    let server = MockServer::start().await;
    let mut document = chart_document();
    document["chart"]["result"][0]["timestamp"][4] = json!(1_768_471_200);
    serve(&server, CHART, answer(&document)).await;
    let chart = yahoo(&server).chart("M&M", Span::TwoYears, &context()).await.unwrap();
    assert_eq!(chart.bars.len(), 3);
    assert_eq!(chart.bars.last().unwrap().close, 104.5);
}

#[tokio::test]
async fn a_span_without_trading_has_no_bars() {
    let server = MockServer::start().await;
    let document = json!({"chart": {"result": [{
        "meta": {"currency": "INR"}, "indicators": {"quote": [{}], "adjclose": [{}]},
    }], "error": null}});
    serve(&server, CHART, answer(&document)).await;
    let chart = yahoo(&server).chart("M&M", Span::OneMonth, &context()).await.unwrap();
    assert_eq!(chart.bars, []);
}

fn summary_document() -> Value {
    json!({"quoteSummary": {"result": [{
        "financialData": {
            "currentPrice": {"raw": 1500.5, "fmt": "1,500.50"},
            "returnOnEquity": 0.29, "debtToEquity": 9.5, "financialCurrency": "INR",
        },
        "defaultKeyStatistics": {"trailingEps": 66, "bookValue": {}, "priceToBook": "Infinity",
            "sharesOutstanding": {"raw": 4_150_000_000_u64, "fmt": "4.15B", "longFmt": "4,150,000,000"}},
        "summaryDetail": {"currency": "INR", "trailingPE": "Infinity", "dividendYield": {"raw": 0.03, "fmt": "3%"}},
        "assetProfile": null,
        "earnings": {
            "earningsChart": {"quarterly": [{"date": "3Q2025", "actual": 17.7, "estimate": {"raw": 17.0}}]},
            "financialsChart": {"yearly": [], "quarterly": [{"date": "3Q2025", "revenue": 5e11, "earnings": {"raw": 7e10}}]},
            "financialCurrency": "INR",
        },
    }], "error": null}})
}

/// The cookie host answers 404 with a cookie; the crumbs are given out one after another.
async fn serve_crumbs(server: &MockServer, crumbs: &[&str]) {
    let cookie = ResponseTemplate::new(404).insert_header("set-cookie", "A3=d=AQ; Path=/; Secure");
    serve(server, "/yahoo-cookie/", cookie).await;
    for crumb in crumbs {
        Mock::given(path("/yahoo/v1/test/getcrumb"))
            .and(header("cookie", "A3=d=AQ"))
            .respond_with(ResponseTemplate::new(200).set_body_string(*crumb))
            .up_to_n_times(1)
            .mount(server)
            .await;
    }
}

async fn serve_summary(server: &MockServer, crumb: &str) {
    Mock::given(path(SUMMARY))
        .and(query_param("crumb", crumb))
        .and(query_param("formatted", "false"))
        .and(query_param("modules", MODULES))
        .and(header("cookie", "A3=d=AQ"))
        .respond_with(answer(&summary_document()))
        .mount(server)
        .await;
}

fn refused_crumb() -> ResponseTemplate {
    ResponseTemplate::new(401).set_body_json(
        json!({"finance": {"result": null, "error": {"code": "Unauthorized", "description": "Invalid Crumb"}}}),
    )
}

async fn requests_to(server: &MockServer, at: &str) -> usize {
    let requests = server.received_requests().await.unwrap();
    requests.iter().filter(|request| request.url.path() == at).count()
}

#[tokio::test]
async fn every_form_of_number_is_read_and_what_is_absent_is_none() {
    let server = MockServer::start().await;
    serve_crumbs(&server, &["aB/c.D+1efg"]).await;
    serve_summary(&server, "aB/c.D+1efg").await;
    let summary = yahoo(&server).summary("INFY", &context()).await.unwrap();
    assert_eq!((summary.price, summary.return_on_equity), (Some(1500.5), Some(0.29)));
    assert_eq!((summary.trailing_eps, summary.shares), (Some(66.0), Some(4.15e9)));
    assert_eq!((summary.trailing_pe, summary.price_to_book, summary.book_value), (None, None, None));
    assert_eq!((summary.sector, summary.market_cap), (None, None));
    assert_eq!(summary.eps[0].estimate, Some(17.0));
    assert_eq!(summary.results[0].net_profit, Some(7e10));
}

#[tokio::test]
async fn a_crumb_is_fetched_once_and_shared() {
    let server = MockServer::start().await;
    serve_crumbs(&server, &["first"]).await;
    serve_summary(&server, "first").await;
    let (yahoo, context) = (yahoo(&server), context());
    let (one, other) = futures_util::join!(yahoo.summary("INFY", &context), yahoo.summary("INFY", &context));
    assert!(one.is_ok() && other.is_ok());
    assert!(yahoo.summary("INFY", &context).await.is_ok());
    assert_eq!(requests_to(&server, "/yahoo/v1/test/getcrumb").await, 1);
    assert_eq!(requests_to(&server, "/yahoo-cookie/").await, 1);
}

#[tokio::test]
async fn a_refused_crumb_is_renewed_once() {
    let server = MockServer::start().await;
    serve_crumbs(&server, &["old", "new"]).await;
    Mock::given(path(SUMMARY))
        .and(query_param("crumb", "old"))
        .respond_with(refused_crumb())
        .mount(&server)
        .await;
    serve_summary(&server, "new").await;
    let yahoo = yahoo(&server);
    assert!(yahoo.summary("INFY", &context()).await.is_ok());
    assert!(yahoo.summary("INFY", &context()).await.is_ok(), "the new one is kept");
    assert_eq!(requests_to(&server, SUMMARY).await, 3);
}

#[tokio::test]
async fn a_crumb_that_is_refused_again_is_no_use() {
    let server = MockServer::start().await;
    serve_crumbs(&server, &["old", "new", "never asked for"]).await;
    serve(&server, SUMMARY, refused_crumb()).await;
    let failure = yahoo(&server).summary("INFY", &context()).await.unwrap_err();
    assert_eq!((failure.kind, failure.source_title), (FailureKind::AuthFailed, "Yahoo Finance"));
    assert_eq!(requests_to(&server, SUMMARY).await, 2);
}

#[tokio::test]
async fn what_is_no_crumb_is_not_used_as_one() {
    let html = ResponseTemplate::new(200).set_body_raw("<html><body>Sorry</body></html>", "text/html");
    let text = |text: &str| ResponseTemplate::new(200).set_body_string(text);
    let bad = [
        (html, FailureKind::Blocked),
        (text(""), FailureKind::Malformed),
        (text("Too Many Requests"), FailureKind::RateLimited),
        (text(r#"{"finance":{"result":null}}"#), FailureKind::Malformed),
        (text(&"x".repeat(200)), FailureKind::Malformed),
    ];
    for (response, kind) in bad {
        let server = MockServer::start().await;
        serve_crumbs(&server, &[]).await;
        serve(&server, "/yahoo/v1/test/getcrumb", response).await;
        let failure = yahoo(&server).summary("INFY", &context()).await.unwrap_err();
        assert_eq!(failure.kind, kind);
        assert_eq!(requests_to(&server, SUMMARY).await, 0);
    }
}

#[tokio::test]
async fn revenue_and_profit_need_no_crumb() {
    let server = MockServer::start().await;
    let point = |date: &str, raw: f64| json!({"asOfDate": date, "currencyCode": "INR", "periodType": "3M", "reportedValue": {"raw": raw, "fmt": "x"}});
    let document = json!({"timeseries": {"result": [
        {"meta": {"type": ["quarterlyTotalRevenue"]}, "timestamp": [1, 2, 3],
         "quarterlyTotalRevenue": [null, point("2024-12-31", 10.0), point("2025-09-30", 12.0)]},
        {"meta": {"type": ["quarterlyNetIncome"]}, "timestamp": [1],
         "quarterlyNetIncome": [point("2025-09-30", 3.0)]},
        {"meta": {"type": ["quarterlyDilutedEPS"]}},
    ], "error": null}});
    Mock::given(path(SERIES))
        .and(query_param("type", timeseries::TYPES))
        .and(query_param("period2", "1768588200"))
        .respond_with(answer(&document))
        .mount(&server)
        .await;
    let since = "2020-01-01".parse().unwrap();
    let series = yahoo(&server).timeseries("INFY", since, &context()).await.unwrap();
    assert_eq!(series.currency.as_deref(), Some("INR"));
    let quarters: Vec<_> = series.results.iter().map(|it| it.quarter.to_string()).collect();
    assert_eq!(quarters, ["4Q2024", "3Q2025"]);
    assert_eq!((series.results[1].revenue, series.results[1].net_profit), (Some(12.0), Some(3.0)));
    assert_eq!(requests_to(&server, "/yahoo/v1/test/getcrumb").await, 0);
}

fn error_table() -> Vec<(&'static str, ResponseTemplate, FailureKind)> {
    let json = |status: u16, body: Value| ResponseTemplate::new(status).set_body_json(body);
    let page =
        |status: u16, body: &str| ResponseTemplate::new(status).set_body_raw(body.to_owned(), "text/html");
    let not_found = json!({"chart": {"result": null,
        "error": {"code": "Not Found", "description": "No data found, symbol may be delisted"}}});
    let unauthorised = json!({"finance": {"result": null,
        "error": {"code": "Unauthorized", "description": "Invalid Crumb"}}});
    let mut uneven = chart_document();
    uneven["chart"]["result"][0]["timestamp"] = json!([1_768_189_500]);
    let down = "<!doctype html><title>Yahoo</title><h1>Will be right back...</h1>";
    let text = |status: u16, body: &str| ResponseTemplate::new(status).set_body_string(body);
    vec![
        ("an unknown symbol", json(404, not_found.clone()), FailureKind::NotFound),
        ("an unknown symbol, although 200", json(200, not_found), FailureKind::NotFound),
        ("no result", json(200, json!({"chart": {"result": [], "error": null}})), FailureKind::NotFound),
        ("a 404 that is no envelope", text(404, "no such page"), FailureKind::Malformed),
        ("credentials refused", json(401, unauthorised), FailureKind::AuthFailed),
        ("no browser", text(429, "Edge: Too Many Requests"), FailureKind::RateLimited),
        ("too many, although 200", text(200, "Too Many Requests"), FailureKind::RateLimited),
        ("down", page(503, down), FailureKind::Down),
        ("down, although 200", page(200, down), FailureKind::Down),
        ("a bad gateway", text(502, ""), FailureKind::Down),
        ("forbidden", text(403, "Forbidden"), FailureKind::Blocked),
        ("not for this country", text(451, ""), FailureKind::Blocked),
        ("a page where data was due", page(200, "<html><body>Consent</body></html>"), FailureKind::Blocked),
        ("half a document", text(200, r#"{"chart":{"result":[{"#), FailureKind::Malformed),
        ("another document", json(200, json!({"quotes": []})), FailureKind::Malformed),
        ("fewer days than prices", json(200, uneven), FailureKind::Malformed),
        (
            "an unheard-of error",
            json(200, json!({"chart": {"result": null, "error": {"code": "X"}}})),
            FailureKind::Malformed,
        ),
    ]
}

#[tokio::test]
async fn every_refusal_is_taken_for_what_it_is() {
    for (name, response, kind) in error_table() {
        let server = MockServer::start().await;
        serve(&server, CHART, response).await;
        let failure = yahoo(&server).chart("M&M", Span::TwoYears, &context()).await.unwrap_err();
        assert_eq!((failure.kind, failure.source_title), (kind, "Yahoo Finance"), "{name}: {failure}");
    }
}

#[tokio::test]
async fn only_a_summary_of_a_known_symbol_has_a_result() {
    let server = MockServer::start().await;
    serve_crumbs(&server, &["crumb"]).await;
    let document =
        json!({"quoteSummary": {"result": null, "error": {"code": "Not Found", "description": "x"}}});
    serve(&server, SUMMARY, ResponseTemplate::new(404).set_body_json(document)).await;
    let failure = yahoo(&server).summary("INFY", &context()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotFound);
}

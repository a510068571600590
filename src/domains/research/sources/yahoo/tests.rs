//! Yahoo in its wire format: what is read of it, and what each of its refusals is taken for.

mod summary;

use std::time::SystemTime;

use chrono::DateTime;
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header_exists, method, path, query_param},
};

use super::*;
use toolwire_sources::upstream::{
    http::FailureKind,
    now::Now,
    testing::{client, client_remembering, context},
};

const CHART: &str = "/yahoo/v8/finance/chart/M&M.NS";
const SERIES: &str = "/yahoo/ws/fundamentals-timeseries/v1/finance/timeseries/INFY.NS";

fn yahoo(server: &MockServer) -> Yahoo {
    yahoo_over(client(PROFILE), server)
}

fn yahoo_over(client: Client, server: &MockServer) -> Yahoo {
    let url = |path: &str| format!("{}/{path}/", server.uri()).parse().unwrap();
    let now = SystemTime::from(DateTime::parse_from_rfc3339("2026-01-16T10:00:00Z").unwrap());
    let settings = Settings { base: url("yahoo"), cookie_base: url("yahoo-cookie"), now: Now::Recorded(now) };
    Yahoo::new(client, settings)
}

async fn serve(server: &MockServer, at: &str, response: ResponseTemplate) {
    Mock::given(method("GET")).and(path(at)).respond_with(response).mount(server).await;
}

fn answer(body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

async fn requests_to(server: &MockServer, at: &str) -> usize {
    let requests = server.received_requests().await.unwrap();
    requests.iter().filter(|request| request.url.path() == at).count()
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
    assert_eq!(chart.bars.last().map(|bar| bar.close), Some(104.5));
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

#[tokio::test]
async fn a_quarter_ends_on_the_day_that_is_stated_and_a_profit_of_0_is_none_yet() {
    let server = MockServer::start().await;
    let point = |date: &str, raw: f64| json!({"asOfDate": date, "currencyCode": "INR", "reportedValue": {"raw": raw}});
    let document = json!({"timeseries": {"result": [
        {"quarterlyTotalRevenue": [point("2025-08-31", 12.0), point("2025-11-30", 0.0)]},
        {"quarterlyNetIncome": [point("2025-08-31", 3.0), point("2025-11-30", 0.0)]},
        {"quarterlyNetIncome": null},
    ], "error": null}});
    serve(&server, SERIES, answer(&document)).await;
    let series = yahoo(&server).timeseries("INFY", "2020-01-01".parse().unwrap(), &context()).await.unwrap();
    let shown: Vec<_> =
        series.results.iter().map(|it| (it.date.unwrap().to_string(), it.net_profit)).collect();
    assert_eq!(shown, [("2025-08-31".to_owned(), Some(3.0)), ("2025-11-30".to_owned(), None)]);
    assert_eq!(series.results[1].revenue, None);
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
    let no_days = json!({"chart": {"result": null, "error": {"code": "Bad Request",
        "description": "Data doesn't exist for startDate = 1767205800, endDate = 1767292200"}}});
    let bad_request =
        json!({"chart": {"result": null, "error": {"code": "Bad Request", "description": "range"}}});
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
        ("a 404 without the envelope", text(404, "no such page"), FailureKind::Malformed),
        ("credentials refused", json(401, unauthorised), FailureKind::AuthFailed),
        ("no browser", text(429, "Edge: Too Many Requests"), FailureKind::RateLimited),
        ("too many, although 200", text(200, "Too Many Requests"), FailureKind::RateLimited),
        ("down", page(503, down), FailureKind::Down),
        ("down, although 200", page(200, down), FailureKind::Down),
        ("a bad gateway", text(502, ""), FailureKind::Down),
        ("a page where data was due", page(200, "<html><body>Consent</body></html>"), FailureKind::Malformed),
        ("another document", json(200, json!({"quotes": []})), FailureKind::Malformed),
        ("fewer days than prices", json(200, uneven), FailureKind::Malformed),
        ("days before the first", json(400, no_days), FailureKind::NotFound),
        ("a bad request", json(400, bad_request), FailureKind::Malformed),
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

//! The summary, and the crumb without which there is none.

use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, path, query_param},
};

use super::*;
use toolwire_contract::ToolError;

const SUMMARY: &str = "/yahoo/v10/finance/quoteSummary/INFY.NS";

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
        (text(""), FailureKind::Blocked),
        (text("Too Many Requests"), FailureKind::RateLimited),
        (text(r#"{"finance":{"result":null}}"#), FailureKind::Blocked),
        (text(&"x".repeat(200)), FailureKind::Blocked),
        (refused_crumb(), FailureKind::Blocked),
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
async fn only_a_summary_of_a_known_symbol_has_a_result() {
    let server = MockServer::start().await;
    serve_crumbs(&server, &["crumb"]).await;
    let document =
        json!({"quoteSummary": {"result": null, "error": {"code": "Not Found", "description": "x"}}});
    serve(&server, SUMMARY, ResponseTemplate::new(404).set_body_json(document)).await;
    let failure = yahoo(&server).summary("INFY", &context()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotFound);
}

#[tokio::test]
async fn a_refused_crumb_leaves_alone_what_needs_none_and_says_for_how_long_and_nothing_of_credentials() {
    let consent =
        || ResponseTemplate::new(302).insert_header("location", "https://guce.yahoo.com/consent?a=b");
    let html = || ResponseTemplate::new(200).set_body_raw("<!DOCTYPE html><title>Yahoo</title>", "text/html");
    let cookie = "/yahoo-cookie/";
    let crumb = "/yahoo/v1/test/getcrumb";
    let table = [
        (cookie, consent()),
        (cookie, html()),
        (cookie, ResponseTemplate::new(404)),
        (crumb, consent()),
        (crumb, html()),
        (crumb, refused_crumb()),
        (crumb, ResponseTemplate::new(403)),
        (SUMMARY, refused_crumb()),
    ];
    for (at, refusal) in table {
        let what = format!("{at} {refusal:?}");
        let server = MockServer::start().await;
        serve(&server, at, refusal).await;
        serve_crumbs(&server, &["one", "two"]).await;
        serve(&server, CHART, answer(&chart_document())).await;
        let yahoo = yahoo_over(client_remembering(PROFILE), &server);
        let mut requests = 0;
        for _ in 0..2 {
            let failure = yahoo.summary("INFY", &context()).await.unwrap_err();
            let error = ToolError::from(failure);
            assert!(!error.message.to_lowercase().contains("credential"), "{what}: {error}");
            assert!(error.message.starts_with("Yahoo Finance") && !error.retryable, "{what}: {error}");
            assert!(error.retry_after.is_some_and(|wait| !wait.is_zero()), "{what}: {error:?}");
            let before = std::mem::replace(&mut requests, server.received_requests().await.unwrap().len());
            assert!(before == 0 || before == requests, "{what}: left alone the second time");
        }
        assert!(yahoo.chart("M&M", Span::TwoYears, &context()).await.is_ok(), "{what}");
    }
}

#[tokio::test]
async fn a_cookie_host_that_is_busy_is_left_alone_for_as_long_as_it_says() {
    let server = MockServer::start().await;
    serve(&server, "/yahoo-cookie/", ResponseTemplate::new(503).insert_header("retry-after", "3600")).await;
    serve(&server, CHART, answer(&chart_document())).await;
    let yahoo = yahoo_over(client_remembering(PROFILE), &server);
    for kind in [FailureKind::Down, FailureKind::OverBudget] {
        let failure = yahoo.summary("INFY", &context()).await.unwrap_err();
        assert_eq!(failure.kind, kind);
        assert!(failure.retry_after.is_some_and(|wait| wait.as_secs() > 3500), "{failure:?}");
    }
    assert_eq!(requests_to(&server, "/yahoo-cookie/").await, 1);
    assert!(yahoo.chart("M&M", Span::TwoYears, &context()).await.is_ok());
}

#[tokio::test]
async fn a_quarter_without_a_result_yet_has_none() {
    let server = MockServer::start().await;
    serve_crumbs(&server, &["one"]).await;
    let mut document = summary_document();
    let earnings = &mut document["quoteSummary"]["result"][0]["earnings"];
    earnings["financialsChart"]["quarterly"] =
        json!([{"date": "4Q2025", "revenue": {"raw": 0}, "earnings": 0}]);
    earnings["earningsChart"]["quarterly"] = Value::Null;
    serve(&server, SUMMARY, answer(&document)).await;
    let summary = yahoo(&server).summary("INFY", &context()).await.unwrap();
    assert_eq!((summary.results[0].revenue, summary.results[0].net_profit), (None, None));
    assert_eq!(summary.eps, []);
}

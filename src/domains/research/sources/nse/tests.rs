//! The exchange in its wire format: what is read of it, and what each of its refusals is taken for.

mod deals;
mod holdings;

use std::time::SystemTime;

use chrono::DateTime;
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, path},
};

use super::*;
use toolwire_sources::upstream::testing::{client, client_remembering, context};

const FLOWS: &str = "/nse/api/fiidiiTradeReact";
const RESULTS: &str = "/nse/api/results-comparision";
const PAGE: &str = "<!DOCTYPE html><html><head><title>NSE India</title></head></html>";

fn nse(server: &MockServer) -> Nse {
    nse_over(client(PROFILE), server)
}

fn nse_over(client: Client, server: &MockServer) -> Nse {
    let url = |path: &str| format!("{}/{path}/", server.uri()).parse().unwrap();
    let now = SystemTime::from(DateTime::parse_from_rfc3339("2026-01-16T10:00:00Z").unwrap());
    let settings =
        Settings { base: url("nse"), archives: url("archives"), now: Now::Recorded(now), first_deal: None };
    Nse::new(client, settings)
}

fn page() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(PAGE, "text/html")
}

fn json_of(body: &Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(body)
}

/// The pages give out one cookie after another.
async fn serve_cookies(server: &MockServer, cookies: &[&str]) {
    for cookie in cookies {
        let set = format!("nsit={cookie}; Path=/");
        let response = page().insert_header("set-cookie", set.as_str());
        Mock::given(path("/nse/")).respond_with(response).up_to_n_times(1).mount(server).await;
    }
}

async fn serve(server: &MockServer, at: &str, response: ResponseTemplate) {
    Mock::given(path(at)).respond_with(response).mount(server).await;
}

async fn with_cookie_and(at: &str, response: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    serve_cookies(&server, &["one", "two"]).await;
    serve(&server, at, response).await;
    server
}

async fn requests_to(server: &MockServer, at: &str) -> usize {
    let requests = server.received_requests().await.unwrap();
    requests.iter().filter(|request| request.url.path() == at).count()
}

#[tokio::test]
async fn an_old_cookie_that_is_refused_is_renewed_once_and_the_new_one_is_kept() {
    for refusal in [page(), ResponseTemplate::new(403), ResponseTemplate::new(401)] {
        let server = MockServer::start().await;
        serve_cookies(&server, &["one", "two", "three"]).await;
        let flows = json!([
            {"category": "DII **", "date": "16-Jan-2026", "buyValue": "1", "sellValue": "2", "netValue": "1,234.56"},
            {"category": "FII/FPI *", "date": "16-Jan-2026", "buyValue": 1, "sellValue": 2, "netValue": -987.5},
        ]);
        let with_one = || Mock::given(path(FLOWS)).and(header("cookie", "nsit=one"));
        with_one().respond_with(json_of(&flows)).up_to_n_times(1).with_priority(1).mount(&server).await;
        with_one().respond_with(refusal).mount(&server).await;
        Mock::given(path(FLOWS))
            .and(header("cookie", "nsit=two"))
            .respond_with(json_of(&flows))
            .mount(&server)
            .await;
        let nse = nse(&server);
        let found = nse.flows(&context()).await.unwrap();
        assert_eq!((found.dii_net_cr, found.fii_net_cr), (1234.56, -987.5));
        assert_eq!(nse.flows(&context()).await.unwrap(), found);
        assert_eq!(requests_to(&server, "/nse/").await, 2);
    }
}

#[tokio::test]
async fn every_refusal_is_taken_for_what_it_is() {
    let text = |status: u16, body: &str| ResponseTemplate::new(status).set_body_string(body);
    let half = json!([{"category": "DII", "date": "16-Jan-2026", "netValue": "1"}]);
    let dash = json!([{"category": "DII", "date": "16-Jan-2026", "netValue": "-"},
        {"category": "FII/FPI", "date": "16-Jan-2026", "netValue": "1"}]);
    let two_days = json!([{"category": "DII", "date": "15-Jan-2026", "netValue": "1"},
        {"category": "FII/FPI", "date": "16-Jan-2026", "netValue": "1"}]);
    let table = [
        ("the page of a block", page(), FailureKind::Blocked),
        ("not authorised", text(401, ""), FailureKind::AuthFailed),
        ("gone", text(404, ""), FailureKind::NotFound),
        ("nothing", text(200, "{}"), FailureKind::Malformed),
        ("an error", text(200, r#"{"error": true, "msg": "Something went wrong"}"#), FailureKind::Malformed),
        ("another document", json_of(&json!({"data": []})), FailureKind::Malformed),
        ("no foreign institutions", json_of(&half), FailureKind::Malformed),
        ("no number", json_of(&dash), FailureKind::Malformed),
        ("two days", json_of(&two_days), FailureKind::Malformed),
    ];
    for (name, response, kind) in table {
        let server = with_cookie_and(FLOWS, response).await;
        let failure = nse(&server).flows(&context()).await.unwrap_err();
        assert_eq!((failure.kind, failure.source_title), (kind, "NSE"), "{name}: {failure}");
    }
}

#[tokio::test]
async fn the_page_of_a_block_without_a_cookie_is_not_gone_on_with() {
    let server = MockServer::start().await;
    serve(&server, "/nse/", page()).await;
    let failure = nse(&server).flows(&context()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Blocked);
    assert_eq!(requests_to(&server, FLOWS).await, 0);
}

#[tokio::test]
async fn results_are_rupees() {
    let rows = json!({"bankNonBnking": "N", "resCmpData": [
        {"re_to_dt": "30-JUN-2025", "re_net_sale": "1000", "re_net_profit": "-50.5", "re_basic_eps_for_cont_dic_opr": "-1.2", "re_res_type": "U"},
        {"re_to_dt": "30-SEP-2025", "re_net_sale": "2,000.50", "re_net_profit": 100, "re_basic_eps_for_cont_dic_opr": null, "re_res_type": "U"},
    ]});
    let server = with_cookie_and(RESULTS, json_of(&rows)).await;
    let results = nse(&server).results("M&M", &context()).await.unwrap();
    assert_eq!(results[0].quarter.to_string(), "3Q2025");
    assert_eq!(
        (results[0].revenue, results[0].net_profit, results[0].eps),
        (Some(200_050_000.0), Some(1e7), None)
    );
    assert_eq!((results[1].net_profit, results[1].eps), (Some(-5_050_000.0), Some(-1.2)));
    let server = with_cookie_and(RESULTS, json_of(&json!({"resCmpData": null}))).await;
    assert_eq!(nse(&server).results("NOSUCH", &context()).await.unwrap(), []);
}

#[tokio::test]
async fn an_error_or_nothing_at_all_with_200_is_never_an_empty_success() {
    let deals = "/nse/api/historicalOR/bulk-block-short-deals";
    for body in [
        json!({}),
        json!({"error": true}),
        json!({"error": "x", "data": [], "resCmpData": []}),
        json!({"msg": 1}),
    ] {
        let server = with_cookie_and(RESULTS, json_of(&body)).await;
        serve(&server, deals, json_of(&body)).await;
        serve(&server, "/nse/api/corporate-share-holdings-master", json_of(&body)).await;
        let (nse, context) = (nse(&server), context());
        let since = "2026-01-01".parse().unwrap();
        let kinds = [
            nse.results("TCS", &context).await.map(drop).unwrap_err().kind,
            nse.deals("TCS", since, &context).await.map(drop).unwrap_err().kind,
            nse.filings("TCS", &context).await.map(drop).unwrap_err().kind,
        ];
        assert_eq!(kinds, [FailureKind::Malformed; 3], "{body}");
    }
}

#[tokio::test]
async fn results_are_those_of_quarters_and_a_bank_earns_interest() {
    let row = |from: &str, to: &str, sale: Value, interest: Value| json!({"re_from_dt": from, "re_to_dt": to, "re_net_sale": sale, "re_int_earned": interest, "re_net_profit": "1"});
    let rows = json!({"bankNonBnking": "B", "resCmpData": [
        row("01-APR-2025", "31-MAR-2026", Value::Null, json!("400")),
        row("01-JAN-2026", "31-MAR-2026", Value::Null, json!("120.5")),
        row("01-JUL-2025", "31-DEC-2025", json!("230"), Value::Null),
        row("01-OCT-2025", "31-DEC-2025", json!("0"), json!("110")),
        row("01-JUL-2025", "30-SEP-2025", json!("90"), Value::Null),
    ]});
    let server = with_cookie_and(RESULTS, json_of(&rows)).await;
    let results = nse(&server).results("HDFCBANK", &context()).await.unwrap();
    let shown: Vec<_> = results.iter().map(|it| (it.date.to_string(), it.revenue.unwrap() / 1e5)).collect();
    let expected = [("2026-03-31", 120.5), ("2025-12-31", 110.0), ("2025-09-30", 90.0)];
    assert_eq!(shown, expected.map(|(date, lakh)| (date.to_owned(), lakh)));
}

#[tokio::test]
async fn a_home_page_that_sends_us_away_is_one_that_is_down_for_now() {
    let to = |location: &str| ResponseTemplate::new(302).insert_header("location", location);
    let table = [
        (to("/nse/"), 1),
        (to("https://www.example.com/maintenance"), 1),
        (ResponseTemplate::new(503).set_body_raw(PAGE, "text/html"), 1),
    ];
    for (refusal, requests) in table {
        let server = MockServer::start().await;
        serve(&server, "/nse/", refusal).await;
        let failure = nse(&server).flows(&context()).await.unwrap_err();
        let error = toolwire_contract::ToolError::from(failure);
        assert_eq!((error.code.into_str(), error.retryable), ("UNAVAILABLE", true), "{error}");
        assert_eq!(requests_to(&server, "/nse/").await, requests);
    }
    let server = with_cookie_and(FLOWS, json_of(&json!([]))).await;
    serve(&server, "/nse/", to("/nse/market")).await;
    let page = page().insert_header("set-cookie", "nsit=one");
    serve(&server, "/nse/market", page).await;
    assert_eq!(nse(&server).flows(&context()).await.unwrap_err().kind, FailureKind::Malformed, "warmed up");
}

#[tokio::test]
async fn too_many_requests_with_an_old_cookie_are_told_as_such() {
    let server = MockServer::start().await;
    serve_cookies(&server, &["one"]).await;
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "3600");
    serve(&server, FLOWS, json_of(&json!([]))).await;
    serve(&server, RESULTS, busy).await;
    let nse = nse_over(client_remembering(PROFILE), &server);
    let _ = nse.flows(&context()).await;
    for kind in [FailureKind::RateLimited, FailureKind::OverBudget] {
        assert_eq!(nse.results("TCS", &context()).await.unwrap_err().kind, kind);
    }
    assert_eq!(requests_to(&server, RESULTS).await, 1);
}

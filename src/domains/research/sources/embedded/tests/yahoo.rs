//! Yahoo Finance.

use serde_json::Value;

use super::Browser;

const CHART: &str = "v8/finance/chart";

async fn chart(browser: &Browser, symbol: &str, query: &str) -> Value {
    let got = browser.get("yahoo", &format!("{CHART}/{symbol}?{query}")).await;
    assert_eq!(got.status, 200, "{}", got.text());
    got.json()["chart"]["result"][0].take()
}

#[track_caller]
fn assert_bars(chart: &Value, expected: usize) {
    let lengths = [
        &chart["timestamp"],
        &chart["indicators"]["quote"][0]["close"],
        &chart["indicators"]["quote"][0]["volume"],
        &chart["indicators"]["adjclose"][0]["adjclose"],
    ];
    for column in lengths {
        assert_eq!(column.as_array().unwrap().len(), expected);
    }
}

#[tokio::test]
async fn a_chart_has_two_years_of_bars_up_to_the_recording() {
    let browser = Browser::new();
    let found = chart(&browser, "RELIANCE.NS", "range=2y&interval=1d&events=div,splits").await;
    assert_bars(&found, 492);
    assert_eq!(found["timestamp"][491], 1_768_535_100);
    assert_eq!(found["meta"]["currency"], "INR");
    assert_eq!(found["events"]["dividends"].as_object().unwrap().len(), 2);
    assert_bars(&chart(&browser, "HDBFS.NS", "range=2y").await, 120);
    assert_bars(&chart(&browser, "M%26M.NS", "range=5d").await, 5);
}

#[tokio::test]
async fn a_chart_is_cut_to_its_span_and_an_empty_one_has_no_timestamp() {
    let browser = Browser::new();
    // From the second of December 2025 until the start of the eighth.
    let found = chart(&browser, "CAMS.NS", "period1=1764633600&period2=1765152000&events=div,splits").await;
    assert_bars(&found, 4);
    assert_eq!(found["events"]["splits"]["1764906300"]["splitRatio"], "5:1");
    assert!(found["events"].get("dividends").is_none());
    let without = chart(&browser, "CAMS.NS", "period1=1764633600&period2=1765152000").await;
    assert!(without.get("events").is_none());
    // A weekend.
    let empty = chart(&browser, "CAMS.NS", "period1=1765065600&period2=1765152000").await;
    assert!(empty.get("timestamp").is_none());
    assert_eq!(empty["indicators"]["quote"], serde_json::json!([{}]));
}

#[tokio::test]
async fn an_unknown_symbol_and_an_unknown_range_have_their_envelopes() {
    let browser = Browser::new();
    let got = browser.get("yahoo", &format!("{CHART}/NOSUCH.NS?range=2y")).await;
    assert_eq!(got.status, 404);
    assert_eq!(got.json()["chart"]["error"]["code"], "Not Found");
    assert_eq!(browser.get("yahoo", &format!("{CHART}/TCS.NS?range=7y")).await.status, 422);
}

#[tokio::test]
async fn what_is_no_browser_hears_that_it_asks_too_often() {
    let browser = Browser::new();
    let got = browser.get_as_program("yahoo", &format!("{CHART}/TCS.NS")).await;
    assert_eq!(got.status, 429);
    assert_eq!(got.text(), "Edge: Too Many Requests");
}

#[tokio::test]
async fn a_summary_needs_the_cookie_and_its_crumb() {
    let browser = Browser::new();
    let cookie = browser.get("yahoo-cookie", "").await;
    assert_eq!(cookie.status, 404);
    let cookie = cookie.cookies();
    assert_eq!(browser.get("yahoo", "v1/test/getcrumb").await.status, 401);
    let crumb = browser.get_with("yahoo", "v1/test/getcrumb", &[("cookie", &cookie)]).await.text();
    assert_eq!(crumb.len(), 11);

    let path = "v10/finance/quoteSummary/TATAMOTORS.NS?modules=financialData,earnings&formatted=false";
    let refused = browser.get_with("yahoo", &format!("{path}&crumb=stale"), &[("cookie", &cookie)]).await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.json()["finance"]["error"]["description"], "Invalid Crumb");

    let found = browser.get_with("yahoo", &format!("{path}&crumb={crumb}"), &[("cookie", &cookie)]).await;
    let modules = found.json()["quoteSummary"]["result"][0].take();
    assert_eq!(modules.as_object().unwrap().keys().collect::<Vec<_>>(), ["financialData", "earnings"]);
    assert_eq!(modules["financialData"]["currentPrice"], 689.25);

    let unknown = format!("v10/finance/quoteSummary/NOSUCH.NS?modules=earnings&crumb={crumb}");
    assert_eq!(browser.get_with("yahoo", &unknown, &[("cookie", &cookie)]).await.status, 404);
}

#[tokio::test]
async fn a_timeseries_is_cut_to_its_types_and_span_and_has_a_hole_where_there_is_none() {
    let browser = Browser::new();
    let path = |symbol: &str, rest: &str| {
        format!("ws/fundamentals-timeseries/v1/finance/timeseries/{symbol}?{rest}")
    };
    let types = "type=quarterlyTotalRevenue,quarterlyDilutedEPS,quarterlyNoSuch";
    let got = browser
        .get("yahoo", &path("TITAN.NS", &format!("{types}&period1=0&period2=1768557600")))
        .await
        .json();
    let found = &got["timeseries"]["result"];
    assert_eq!(found[0]["quarterlyTotalRevenue"].as_array().unwrap().len(), 9);
    assert_eq!(found[1]["quarterlyDilutedEPS"][2], Value::Null);
    assert_eq!(found[1]["timestamp"].as_array().unwrap().len(), 9);
    assert_eq!(found[2]["meta"]["type"][0], "quarterlyNoSuch");
    assert!(found[2].get("timestamp").is_none());

    let late = browser
        .get("yahoo", &path("TITAN.NS", &format!("{types}&period1=1751241600&period2=1768557600")))
        .await;
    let late = late.json()["timeseries"]["result"][0].take();
    assert_eq!(late["timestamp"].as_array().unwrap().len(), 2);
    let unknown = browser.get("yahoo", &path("NOSUCH.NS", types)).await;
    assert_eq!(unknown.json()["timeseries"]["result"].as_array().unwrap().len(), 3);
}

//! The National Stock Exchange.

use serde_json::{Value, json};

use super::{Browser, Got};

const DEALS: &str = "api/historicalOR/bulk-block-short-deals";

async fn ask(browser: &Browser, path: &str) -> Got {
    let cookies = browser.get("nse", "").await.cookies();
    browser.get_with("nse", path, &[("cookie", &cookies)]).await
}

#[tokio::test]
async fn a_document_needs_the_cookie_of_a_page_and_a_browser() {
    let browser = Browser::new();
    let cold = browser.get("nse", "api/fiidiiTradeReact").await;
    assert_eq!((cold.status.as_u16(), cold.header("content-type")), (401, "text/html; charset=utf-8"));
    assert_eq!(browser.get_as_program("nse", "").await.status, 403);
    let warm = browser.get("nse", "report-detail/display-bulk-and-block-deals").await;
    assert!(warm.cookies().contains("nsit="));
    assert_eq!(ask(&browser, "api/nosuch").await.status, 404);
}

#[tokio::test]
async fn flows_are_of_the_whole_market_with_numbers_of_both_kinds() {
    let flows = ask(&Browser::new(), "api/fiidiiTradeReact").await.json();
    assert_eq!([&flows[0]["category"], &flows[1]["category"]], ["DII", "FII/FPI"]);
    assert!(flows[0]["netValue"].is_string() && flows[1]["netValue"].is_f64());
}

#[tokio::test]
async fn deals_are_those_of_a_symbol_and_a_span() {
    let browser = Browser::new();
    let path = format!("{DEALS}?optionType=block_deals&symbol=M%26M&from=17-11-2025&to=16-01-2026");
    let deals = ask(&browser, &path).await.json();
    let deals = deals["data"].as_array().unwrap();
    assert_eq!(deals.len(), 2);
    assert!(deals.iter().all(|deal| deal["BD_SYMBOL"] == "M&M" && deal["BD_REMARKS"] == Value::Null));
    let before = format!("{DEALS}?optionType=block_deals&symbol=M%26M&from=01-01-2025&to=31-01-2025");
    assert_eq!(ask(&browser, &before).await.json(), json!({ "data": [] }));
}

#[tokio::test]
async fn the_json_is_silently_cut_and_the_csv_is_whole() {
    let browser = Browser::new();
    let path = format!("{DEALS}?optionType=bulk_deals&symbol=SUZLON&from=17-12-2025&to=16-01-2026");
    assert_eq!(ask(&browser, &path).await.json()["data"].as_array().unwrap().len(), 70);
    let csv = ask(&browser, &format!("{path}&csv=true")).await;
    assert!(csv.header("content-type").starts_with("text/csv"));
    let csv = csv.text();
    assert!(csv.starts_with("\u{feff}\"Date \",\"Symbol \""));
    assert_eq!(csv.lines().count(), 1 + 84);
    // Crores of shares, grouped as in India.
    assert!(csv.lines().nth(1).unwrap().split("\",\"").nth(5).unwrap().matches(',').count() >= 2, "{csv}");
    let none = ask(&browser, &format!("{DEALS}?optionType=bulk_deals&symbol=NOSUCH&csv=true")).await.text();
    assert_eq!(none.lines().nth(1), Some("\"NO RECORDS\""));
}

#[tokio::test]
async fn a_filing_links_to_its_shares_by_kind_of_holder() {
    let browser = Browser::new();
    let filings =
        ask(&browser, "api/corporate-share-holdings-master?index=equities&symbol=ASIANPAINT").await.json();
    assert_eq!(filings.as_array().unwrap().len(), 2);
    assert_eq!(filings[0]["date"], "31-DEC-2025");
    let link =
        filings[0]["xbrl"].as_str().unwrap().strip_prefix("https://nsearchives.nseindia.com/").unwrap();
    let xbrl = browser.get("nse", link).await;
    assert_eq!(xbrl.header("content-type"), "application/xml");
    let xbrl = xbrl.text();
    for (context, shares) in [
        ("ShareholdingPattern", 960_519_420),
        ("InstitutionsForeign", 193_216_542),
        ("InstitutionsDomestic", 76_058_990),
    ] {
        let fact = format!("contextRef=\"{context}_ContextI\" unitRef=\"shares\" decimals=\"0\">{shares}<");
        assert!(xbrl.contains(&fact), "{fact}");
    }
    let unknown = ask(&browser, "api/corporate-share-holdings-master?index=equities&symbol=NOSUCH").await;
    assert_eq!((unknown.status.as_u16(), unknown.json()), (200, json!([])));
}

#[tokio::test]
async fn results_are_in_lakh_as_text() {
    let browser = Browser::new();
    let results = ask(&browser, "api/results-comparision?symbol=TCS").await.json();
    assert_eq!(results["resCmpData"].as_array().unwrap().len(), 5);
    assert_eq!(results["resCmpData"][0]["re_to_dt"], "31-DEC-2025");
    assert!(results["resCmpData"][0]["re_net_sale"].as_str().unwrap().parse::<u64>().is_ok());
    assert_eq!(
        ask(&browser, "api/results-comparision?symbol=NOSUCH").await.json()["resCmpData"],
        Value::Null
    );
}

//! Bulk and block deals, as JSON and as CSV.

use std::fmt::Write;

use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, header_exists, path, query_param},
};

use super::*;
use crate::sources::nse::deals::parse_csv;

const DEALS: &str = "/nse/api/historicalOR/bulk-block-short-deals";

fn row(date: &str, client: &str, side: &str, quantity: &Value, price: &Value) -> Value {
    json!({"BD_DT_DATE": date, "BD_SYMBOL": "M&M", "BD_SCRIP_NAME": "Mahindra", "BD_CLIENT_NAME": client,
        "BD_BUY_SELL": side, "BD_QTY_TRD": quantity, "BD_TP_WATP": price, "BD_REMARKS": null})
}

async fn serve_deals(server: &MockServer, option: &str, rows: &[Value]) {
    Mock::given(path(DEALS))
        .and(query_param("optionType", option))
        .and(query_param("symbol", "M&M"))
        .and(query_param("from", "17-12-2025"))
        .and(query_param("to", "16-01-2026"))
        .and(header("cookie", "nsit=one"))
        .and(header_exists("referer"))
        .respond_with(json_of(&json!({"data": rows})))
        .mount(server)
        .await;
}

fn since() -> NaiveDate {
    "2025-12-17".parse().unwrap()
}

#[tokio::test]
async fn bulk_and_block_deals_come_newest_first() {
    let server = MockServer::start().await;
    serve_cookies(&server, &["one"]).await;
    let bulk = [
        row("05-JAN-2026", "ALPHA FUND ", "BUY", &json!(150_000), &json!(3100.25)),
        row("16-Jan-2026", "BETA LLP", "SELL", &json!("1,50,000"), &json!("3,150.50")),
    ];
    let mut foreign = row("10-JAN-2026", "X", "BUY", &json!(1), &json!(1));
    foreign["BD_SYMBOL"] = json!("M&MFIN");
    serve_deals(&server, "bulk_deals", &bulk).await;
    let block = row("12-JAN-2026", "GAMMA", "BUY", &json!(9), &json!(3000));
    serve_deals(&server, "block_deals", &[block, foreign]).await;
    let deals = nse(&server).deals("M&M", since(), &context()).await.unwrap();
    let shown: Vec<_> = deals
        .iter()
        .map(|it| (it.date.to_string(), it.client.as_str(), it.kind.into_str(), it.quantity))
        .collect();
    let expected = [
        ("2026-01-16".to_owned(), "BETA LLP", "bulk", 150_000),
        ("2026-01-12".to_owned(), "GAMMA", "block", 9),
        ("2026-01-05".to_owned(), "ALPHA FUND", "bulk", 150_000),
    ];
    assert_eq!(shown, expected);
    assert_eq!((deals[0].side, deals[0].price), (Side::Sell, 3150.5));
    assert_eq!(requests_to(&server, "/nse/").await, 1, "the cookie is shared");
}

#[tokio::test]
async fn where_the_json_may_be_cut_the_csv_is_asked_for() {
    let server = MockServer::start().await;
    serve_cookies(&server, &["one"]).await;
    let mut csv = "\u{feff}\"Date \",\"Symbol \",\"Security Name \",\"Client Name \",\"Buy / Sell \",\
        \"Quantity Traded \",\"Trade Price / Wght. Avg. Price \",\"Remarks \"\r\n"
        .to_owned();
    for number in 1..=83 {
        let _ = write!(
            csv,
            "\"14-JAN-2026\",\"M&M\",\"Mahindra\",\"FUND, NO {number}\",\"BUY\",\"12,34,567\",\"3,000.50\",\"-\"\r\n"
        );
    }
    Mock::given(path(DEALS))
        .and(query_param("optionType", "bulk_deals"))
        .and(query_param("csv", "true"))
        .respond_with(ResponseTemplate::new(200).set_body_raw(csv, "text/csv"))
        .with_priority(1)
        .mount(&server)
        .await;
    let rows = vec![row("14-JAN-2026", "X", "BUY", &json!(1), &json!(1)); 70];
    serve_deals(&server, "bulk_deals", &rows).await;
    serve_deals(&server, "block_deals", &rows[..69]).await;
    let deals = nse(&server).deals("M&M", since(), &context()).await.unwrap();
    assert_eq!(deals.len(), 83 + 69);
    assert_eq!(
        (deals[0].client.as_str(), deals[0].quantity, deals[0].price),
        ("FUND, NO 1", 1_234_567, 3000.5)
    );
    assert_eq!(requests_to(&server, DEALS).await, 3, "block deals are not cut");
}

#[test]
fn a_csv_without_records_has_no_deals() {
    let answer = |text: &str| Answer {
        status: StatusCode::OK,
        headers: ::http::HeaderMap::new(),
        body: text.to_owned().into(),
        url: "http://127.0.0.1/".parse().unwrap(),
    };
    let header =
        "Date ,Symbol ,Security Name ,Client Name ,Buy / Sell ,Quantity Traded ,Trade Price ,Remarks \n";
    let none = answer(&format!("{header}NO RECORDS,,,,,,,\n"));
    assert_eq!(parse_csv(&none, DealKind::Bulk, "M&M").unwrap(), []);
    for wrong in [
        "Date ,Symbol \n",
        &format!("{header}14-JAN-2026,M&M,x\n"),
        &format!("{header}14-JAN-2026,M&M,x,y,HOLD,1,1,\n"),
    ] {
        let failure = parse_csv(&answer(wrong), DealKind::Bulk, "M&M").unwrap_err();
        assert_eq!(failure.kind, FailureKind::Malformed, "{wrong}");
    }
}

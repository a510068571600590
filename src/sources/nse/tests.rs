//! The exchange in its wire format: what is read of it, and what each of its refusals is taken for.

use std::{fmt::Write, time::SystemTime};

use chrono::DateTime;
use serde_json::{Value, json};
use wiremock::{
    Mock, MockServer, ResponseTemplate,
    matchers::{header, header_exists, path, query_param},
};

use super::*;
use crate::sources::testing::{client, context};

const DEALS: &str = "/nse/api/historicalOR/bulk-block-short-deals";
const MASTER: &str = "/nse/api/corporate-share-holdings-master";
const FLOWS: &str = "/nse/api/fiidiiTradeReact";
const RESULTS: &str = "/nse/api/results-comparision";
const PAGE: &str = "<!DOCTYPE html><html><head><title>NSE India</title></head></html>";

fn nse(server: &MockServer) -> Nse {
    let url = |path: &str| format!("{}/{path}/", server.uri()).parse().unwrap();
    let now = SystemTime::from(DateTime::parse_from_rfc3339("2026-01-16T10:00:00Z").unwrap());
    let settings = Settings { base: url("nse"), archives: url("archives"), now: Now::Recorded(now) };
    Nse::new(client(PROFILE), settings)
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
        .map(|it| (it.date.to_string(), it.client.as_str(), it.kind.word(), it.quantity))
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
    assert_eq!(deals::parse_csv(&none, DealKind::Bulk, "M&M").unwrap(), []);
    for wrong in [
        "Date ,Symbol \n",
        &format!("{header}14-JAN-2026,M&M,x\n"),
        &format!("{header}14-JAN-2026,M&M,x,y,HOLD,1,1,\n"),
    ] {
        let failure = deals::parse_csv(&answer(wrong), DealKind::Bulk, "M&M").unwrap_err();
        assert_eq!(failure.kind, FailureKind::Malformed, "{wrong}");
    }
}

#[tokio::test]
async fn a_refused_cookie_is_renewed_once_and_the_new_one_is_kept() {
    for refusal in [page(), ResponseTemplate::new(403), ResponseTemplate::new(401)] {
        let server = MockServer::start().await;
        serve_cookies(&server, &["one", "two", "three"]).await;
        let flows = json!([
            {"category": "DII **", "date": "16-Jan-2026", "buyValue": "1", "sellValue": "2", "netValue": "1,234.56"},
            {"category": "FII/FPI *", "date": "16-Jan-2026", "buyValue": 1, "sellValue": 2, "netValue": -987.5},
        ]);
        Mock::given(path(FLOWS)).and(header("cookie", "nsit=one")).respond_with(refusal).mount(&server).await;
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
        ("forbidden", text(403, ""), FailureKind::Blocked),
        ("not authorised", text(401, ""), FailureKind::AuthFailed),
        ("too many", text(429, "").insert_header("retry-after", "7"), FailureKind::RateLimited),
        ("down", text(503, ""), FailureKind::Down),
        ("gone", text(404, ""), FailureKind::NotFound),
        ("half a document", text(200, "[{"), FailureKind::Malformed),
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
async fn a_page_without_a_cookie_is_not_gone_on_with() {
    let server = MockServer::start().await;
    serve(&server, "/nse/", page()).await;
    let failure = nse(&server).flows(&context()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Malformed);
    assert_eq!(requests_to(&server, FLOWS).await, 0);
}

fn master() -> Value {
    let row = |date: &str, name: &str| {
        json!({"symbol": "ASIANPAINT", "date": date, "pr_and_prgrp": "52.63", "public_val": "47.37",
            "xbrl": format!("https://nsearchives.nseindia.com/corporate/xbrl/{name}.xml")})
    };
    let mut without = row("30-JUN-2025", "none");
    without["xbrl"] = json!("-");
    json!([row("30-SEP-2025", "before"), row("31-DEC-2025", "revised"), row("31-DEC-2025", "first"), without])
}

/// Contexts named as of 2025, but for one that only its member names; and one holder among the domestic institutions.
fn xbrl(leave_out: &str) -> String {
    let contexts = [
        ("ShareholdingPattern_ContextI", "", "960519420"),
        ("InstitutionsForeignI", "", "193216542"),
        ("D_7", "in-bse-shp:InstitutionsDomesticMember", "76058990"),
        ("ShareholdingOfPromoterAndPromoterGroup_ContextI", "", "505521365"),
        ("D_8", "in-bse-shp:InstitutionsDomesticMember|in-bse-shp:HolderMember", "38316284"),
    ];
    let mut text = "<?xml version=\"1.0\"?>\n<xbrli:xbrl xmlns:xbrli=\"http://www.xbrl.org/2003/instance\" \
        xmlns:xbrldi=\"http://xbrl.org/2006/xbrldi\" xmlns:in-bse-shp=\"http://www.bseindia.com/xbrl/shp\">"
        .to_owned();
    for (id, members, shares) in contexts.into_iter().rev().filter(|(id, ..)| *id != leave_out) {
        let _ = write!(text, "<xbrli:context id=\"{id}\"><xbrli:scenario>");
        for member in members.split('|').filter(|member| !member.is_empty()) {
            let _ = write!(text, "<xbrldi:explicitMember dimension=\"x\">{member}</xbrldi:explicitMember>");
        }
        let _ = write!(
            text,
            "</xbrli:scenario></xbrli:context>\
             <in-bse-shp:NumberOfShareholders contextRef=\"{id}\">7</in-bse-shp:NumberOfShareholders>\
             <in-bse-shp:NumberOfShares contextRef=\"{id}\" decimals=\"0\">{shares}</in-bse-shp:NumberOfShares>"
        );
    }
    text + "</xbrli:xbrl>"
}

async fn holding(xbrl: String, master: &Value) -> Result<Holding, Failure> {
    let server = with_cookie_and(MASTER, json_of(master)).await;
    let response = ResponseTemplate::new(200).set_body_raw(xbrl, "application/xml");
    serve(&server, "/archives/corporate/xbrl/revised.xml", response).await;
    let nse = nse(&server);
    let filings = nse.filings("ASIANPAINT", &context()).await.unwrap();
    let days: Vec<_> = filings.iter().map(|filing| filing.date.to_string()).collect();
    assert_eq!(days, ["2025-12-31", "2025-09-30"], "one a quarter, newest first, only those with a document");
    nse.holding(&filings[0], &context()).await
}

#[tokio::test]
async fn shares_are_counted_from_the_configured_archives() {
    let holding = holding(xbrl(""), &master()).await.unwrap();
    assert_eq!(format!("{:.2} {:.2}", holding.fii_pct, holding.dii_pct), "20.12 7.92");
    assert_eq!(format!("{:.2} {:.2}", holding.promoter_pct, holding.public_pct), "52.63 19.34");
}

#[tokio::test]
async fn a_kind_of_holder_that_is_not_stated_is_an_error_and_never_0() {
    for left_out in [
        "ShareholdingPattern_ContextI",
        "InstitutionsForeignI",
        "D_7",
        "ShareholdingOfPromoterAndPromoterGroup_ContextI",
    ] {
        let failure = holding(xbrl(left_out), &master()).await.unwrap_err();
        assert_eq!((failure.kind, failure.source_title), (FailureKind::Malformed, "NSE"), "{left_out}");
    }
    let without_number = xbrl("").replace("193216542", "");
    assert_eq!(holding(without_number, &master()).await.unwrap_err().kind, FailureKind::Malformed);
}

#[tokio::test]
async fn a_company_without_promoters_says_so_twice() {
    let mut master = master();
    master[1]["pr_and_prgrp"] = json!("0.00");
    let without = xbrl("ShareholdingOfPromoterAndPromoterGroup_ContextI");
    let holding = holding(without, &master).await.unwrap();
    assert!(holding.promoter_pct.abs() < f64::EPSILON);
}

#[tokio::test]
async fn what_is_no_xbrl_is_not_read() {
    let page = "<html><body>Access denied</body></html>".to_owned();
    assert_eq!(holding(page, &master()).await.unwrap_err().kind, FailureKind::Blocked);
    let bomb = "<!DOCTYPE x [<!ENTITY a \"b\">]><x>&a;</x>".to_owned();
    assert_eq!(holding(bomb, &master()).await.unwrap_err().kind, FailureKind::Malformed);
    let too_many = xbrl("").replace("193216542", "999999999");
    assert_eq!(holding(too_many, &master()).await.unwrap_err().kind, FailureKind::Malformed);
}

#[tokio::test]
async fn an_unknown_company_has_filed_nothing() {
    let server = with_cookie_and(MASTER, json_of(&json!([]))).await;
    let failure = nse(&server).filings("NOSUCH", &context()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotFound);
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

//! Shareholdings: the list of filings, and what a filing counts.

use std::fmt::Write;

use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use super::*;

const MASTER: &str = "/nse/api/corporate-share-holdings-master";

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

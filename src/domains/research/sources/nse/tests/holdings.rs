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
    assert_eq!(holding(page, &master()).await.unwrap_err().kind, FailureKind::Malformed);
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

/// A kind of holder, with its shares and their fraction.
type Stated = (&'static str, u64, f64);
/// A kind of holder, and which of both a filing shows.
type Shown = (&'static str, Option<u64>, Option<f64>);

/// A filing in the form of 2025 and 2026: counts, shares as fractions or percentages, and holders by name within a
/// kind.
fn filing(kinds: &[Shown]) -> String {
    let mut text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<xbrli:xbrl xmlns:xbrli=\"http://www.xbrl.org/2003/instance\" \
        xmlns:xbrldi=\"http://xbrl.org/2006/xbrldi\" xmlns:in-bse-shp=\"http://www.bseindia.com/xbrl/shp/2025-10-31/in-bse-shp\">\
        <xbrli:context id=\"Holder1\"><xbrli:segment><xbrldi:explicitMember>in-bse-shp:InstitutionsForeignMember\
        </xbrldi:explicitMember><xbrldi:typedMember>7</xbrldi:typedMember></xbrli:segment></xbrli:context>\
        <in-bse-shp:NumberOfShares contextRef=\"Holder1\">1</in-bse-shp:NumberOfShares>"
        .to_owned();
    for (kind, count, share) in kinds {
        let _ = write!(
            text,
            "<xbrli:context id=\"{kind}_ContextI\"><xbrli:entity><xbrli:segment><xbrldi:explicitMember \
             dimension=\"in-bse-shp:CategoryOfShareholdersAxis\">in-bse-shp:{kind}Member</xbrldi:explicitMember>\
             </xbrli:segment></xbrli:entity></xbrli:context>"
        );
        for (name, value) in [
            ("NumberOfShares", count.map(|count| count.to_string())),
            ("ShareholdingAsAPercentageOfTotalNumberOfShares", share.map(|share| share.to_string())),
        ] {
            let Some(value) = value else { continue };
            let _ = write!(
                text,
                "<in-bse-shp:{name} contextRef=\"{kind}_ContextI\" unitRef=\"pure\" decimals=\"4\">{value}</in-bse-shp:{name}>"
            );
        }
    }
    text + "</xbrli:xbrl>"
}

/// As a large company with receipts abroad filed in June 2026, in shares and in fractions of all but those receipts.
const WITH_RECEIPTS: [Stated; 9] = [
    ("ShareholdingPattern", 4_150_000_000, 1.0),
    ("ShareholdingOfPromoterAndPromoterGroup", 512_722_000, 0.1382),
    ("PublicShareholding", 3_187_660_000, 0.8592),
    ("InstitutionsDomestic", 1_593_816_000, 0.4296),
    ("InstitutionsForeign", 1_005_039_000, 0.2709),
    ("NonInstitutions", 588_805_000, 0.1587),
    ("SharesHeldByNonPromoterNonPublicShareholders", 449_618_000, 0.0026),
    ("CustodianOrDRHolder", 440_000_000, 0.0),
    ("EmployeeBenefitsTrusts", 9_618_000, 0.0026),
];

#[tokio::test]
async fn shares_are_those_that_the_filing_states_without_those_behind_receipts() {
    let kinds = |of: fn(Stated) -> Shown| filing(&WITH_RECEIPTS.iter().copied().map(of).collect::<Vec<_>>());
    for text in [
        kinds(|(kind, count, share)| (kind, Some(count), Some(share))),
        kinds(|(kind, count, share)| (kind, Some(count), Some((share * 1e4).round() / 100.0))),
        kinds(|(kind, _, share)| (kind, None, Some(share))),
        kinds(|(kind, count, _)| (kind, Some(count), None)),
        format!("\u{feff}{}", kinds(|(kind, count, share)| (kind, Some(count), Some(share)))),
    ] {
        let holding = holding(text, &master()).await.unwrap();
        let shown = [holding.fii_pct, holding.dii_pct, holding.promoter_pct, holding.public_pct];
        assert_eq!(shown.map(|share| format!("{share:.2}")), ["27.09", "42.96", "13.82", "16.13"]);
    }
}

#[tokio::test]
async fn a_kind_that_is_not_named_has_nothing_where_the_others_add_up() {
    let without = |left_out: &[&str], public: f64| {
        let kinds = [
            ("ShareholdingPattern", 1.0),
            ("ShareholdingOfPromoterAndPromoterGroup", 0.6),
            ("PublicShareholding", public),
            ("InstitutionsForeign", 0.1),
            ("InstitutionsDomestic", 0.1),
            ("NonInstitutions", 0.2),
        ];
        let kinds = kinds.into_iter().filter(|(kind, _)| !left_out.contains(kind));
        filing(&kinds.map(|(kind, share)| (kind, None, Some(share))).collect::<Vec<_>>())
    };
    let found = holding(without(&["InstitutionsForeign"], 0.3), &master()).await.unwrap();
    assert!(found.fii_pct.abs() < f64::EPSILON && (found.dii_pct - 10.0).abs() < 1e-9);
    let found =
        holding(without(&["InstitutionsForeign", "InstitutionsDomestic"], 0.2), &master()).await.unwrap();
    assert!(found.fii_pct.abs() < f64::EPSILON && found.dii_pct.abs() < f64::EPSILON);
    let found = holding(without(&["ShareholdingOfPromoterAndPromoterGroup"], 1.0), &master()).await.unwrap();
    assert!(found.promoter_pct.abs() < f64::EPSILON);
    for not_understood in [
        without(&["InstitutionsForeign"], 0.4),
        without(&["InstitutionsForeign", "PublicShareholding"], 0.3),
        without(&["ShareholdingOfPromoterAndPromoterGroup"], 0.4),
    ] {
        assert_eq!(holding(not_understood, &master()).await.unwrap_err().kind, FailureKind::Malformed);
    }
}

#[tokio::test]
async fn a_document_that_is_missing_says_so_and_nothing_of_the_stock() {
    let server = with_cookie_and(MASTER, json_of(&master())).await;
    let nse = nse(&server);
    let filings = nse.filings("ASIANPAINT", &context()).await.unwrap();
    let failure = nse.holding(&filings[0], &context()).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotFound);
    let words = failure.message.unwrap();
    assert!(words.contains("document") && !words.contains("suspended"), "{words}");
}

//! The documents of every source in their own shapes, each with a letter that is not ASCII where it may have one.

use std::time::SystemTime;

use chrono::DateTime;

use crate::sources::{screener::testing::screen_page, valuepickr::Topic};
use toolwire_sources::upstream::text::{Identifier, Line};

pub(super) const REDDIT_USER_AGENT: &str = "linux:toolwire:0.1.0 (by /u/tester)";

/// A Friday, at the close of the market.
pub(super) fn now() -> SystemTime {
    DateTime::parse_from_rfc3339("2026-01-16T10:00:00Z").expect("a time").into()
}

pub(super) fn topic() -> Topic {
    Topic {
        id: 7,
        title: Line::of("TCS"),
        slug: Identifier::of("tcs"),
        posts_count: 2,
        last_activity: DateTime::UNIX_EPOCH,
    }
}

/// The status of a good answer: a form that is sent leads somewhere, a host may have nothing but a cookie.
pub(super) fn status(method: &str, path: &str) -> u16 {
    match path {
        "/screener/login/" if method == "POST" => 302,
        "/yahoo-cookie/" => 404,
        _ => 200,
    }
}

const JSON: &str = "content-type: application/json\r\n";
const XML: &str = "content-type: text/xml\r\n";
const PAGE: &str = "content-type: text/html\r\n";

/// Headers and body of a good answer.
pub(super) fn answer(method: &str, path: &str) -> Option<(String, String)> {
    let path = path.split('?').next()?;
    let place = path.trim_start_matches('/').split('/').next()?;
    let (headers, body) = match place {
        "yahoo-cookie" => ("set-cookie: A3=d=AQ\r\n", String::new()),
        "yahoo" => yahoo(path),
        "nse" => nse(path),
        "archives" => (XML, xbrl()),
        "moneycontrol" | "economictimes" | "googlenews" => (XML, feed(place)),
        "forum" => (JSON, forum(path)),
        "reddit-token" => (
            JSON,
            r#"{"access_token": "t", "token_type": "bearer", "expires_in": 3600, "scope": "é"}"#.to_owned(),
        ),
        "reddit" => (JSON, LISTING.to_owned()),
        "screener" => screener(method, path),
        _ => return None,
    };
    Some((headers.to_owned(), body))
}

fn yahoo(path: &str) -> (&'static str, String) {
    let body = if path.ends_with("/getcrumb") {
        return ("content-type: text/plain\r\n", "aB/c.D+1efg".to_owned());
    } else if path.contains("/chart/") {
        r#"{"chart": {"result": [{"meta": {"currency": "INR", "gmtoffset": 19800, "longName": "Café"}, "timestamp": [1768189500],
            "indicators": {"quote": [{"close": [100.5], "volume": null}], "adjclose": [{"adjclose": null}]}}], "error": null}}"#
    } else if path.contains("/quoteSummary/") {
        r#"{"quoteSummary": {"result": [{"financialData": {"currentPrice": {"raw": 1500.5}}, "assetProfile": {"sector": "Café"},
            "summaryDetail": {"currency": "INR"}, "earnings": {"financialCurrency": "INR", "earningsChart": {"quarterly": [{"date": "4Q2025"}]}, "financialsChart": {"quarterly": []}}}], "error": null}}"#
    } else {
        r#"{"timeseries": {"result": [{"meta": {"symbol": ["é"]}, "quarterlyTotalRevenue": [{"asOfDate": "2025-12-31",
            "currencyCode": "INR", "reportedValue": {"raw": 12.0}}]}], "error": null}}"#
    };
    (JSON, body.to_owned())
}

fn nse(path: &str) -> (&'static str, String) {
    let body = match path.rsplit('/').next().unwrap_or_default() {
        "fiidiiTradeReact" => {
            r#"[{"category": "DII **", "date": "16-Jan-2026", "netValue": "1,234.56", "note": "é"},
            {"category": "FII/FPI *", "date": "16-Jan-2026", "netValue": -987.5}]"#
        }
        "bulk-block-short-deals" => {
            r#"{"data": [{"BD_DT_DATE": "15-JAN-2026", "BD_SYMBOL": "TCS", "BD_CLIENT_NAME": "CAFÉ FUND",
            "BD_BUY_SELL": "BUY", "BD_QTY_TRD": "1,000", "BD_TP_WATP": 3000.5}]}"#
        }
        "corporate-share-holdings-master" => {
            r#"[{"symbol": "TCS", "date": "31-DEC-2025", "pr_and_prgrp": "71.77", "name": "é",
            "xbrl": "https://nsearchives.nseindia.com/corporate/xbrl/SHP_1_WEB.xml"}]"#
        }
        "results-comparision" => {
            r#"{"bankNonBnking": "N", "resCmpData": [{"re_from_dt": "01-OCT-2025", "re_to_dt": "31-DEC-2025",
            "re_net_sale": "1000", "re_net_profit": "50", "re_basic_eps_for_cont_dic_opr": "1.2", "re_remarks": "é"}]}"#
        }
        _ => {
            return (
                "content-type: text/html\r\nset-cookie: nsit=one\r\n",
                "<!DOCTYPE html><title>NSE</title>".to_owned(),
            );
        }
    };
    (JSON, body.to_owned())
}

fn xbrl() -> String {
    let fact = |kind: &str, share: &str| {
        format!(
            "<xbrli:context id=\"{kind}_ContextI\"><xbrli:segment><xbrldi:explicitMember>in-bse-shp:{kind}Member\
             </xbrldi:explicitMember></xbrli:segment></xbrli:context><in-bse-shp:ShareholdingAsAPercentageOfTotalNumberOfShares \
             contextRef=\"{kind}_ContextI\">{share}</in-bse-shp:ShareholdingAsAPercentageOfTotalNumberOfShares>"
        )
    };
    let facts = [
        ("ShareholdingOfPromoterAndPromoterGroup", "0.7177"),
        ("PublicShareholding", "0.2823"),
        ("InstitutionsForeign", "0.1"),
        ("InstitutionsDomestic", "0.12"),
    ];
    let facts: String = facts.into_iter().map(|(kind, share)| fact(kind, share)).collect();
    format!(
        "<xbrli:xbrl xmlns:xbrli=\"http://www.xbrl.org/2003/instance\" xmlns:xbrldi=\"http://xbrl.org/2006/xbrldi\" \
         xmlns:in-bse-shp=\"http://www.bseindia.com/xbrl/shp\"><!-- é -->{facts}</xbrli:xbrl>"
    )
}

fn feed(place: &str) -> String {
    format!(
        "<rss version=\"2.0\"><channel><title>Café</title><item><title>Café {place} - Mint</title><link>https://news.example/\
         {place}</link><description>Nifty rises</description><pubDate>Fri, 16 Jan 2026 12:00:00 +0530</pubDate></item></channel></rss>"
    )
}

fn forum(path: &str) -> String {
    let topic = r#"{"id": 7, "title": "Café", "slug": "cafe", "posts_count": 2, "bumped_at": "2026-01-15T00:00:00.000Z"}"#;
    match path.rsplit('/').next().unwrap_or_default() {
        "latest.json" => format!(r#"{{"topic_list": {{"topics": [{topic}]}}}}"#),
        "search.json" => format!(r#"{{"topics": [{topic}], "grouped_search_result": {{"term": "é"}}}}"#),
        _ => r#"{"posts_count": 1, "last_posted_at": null, "post_stream": {"posts": [{"id": 1, "post_number": 1,
            "cooked": "<p>Café</p>", "hidden": null}, {"id": 2, "post_number": 2, "cooked": "<p>No</p>"}], "stream": [1, 2]}}"#
            .to_owned(),
    }
}

const LISTING: &str = r#"{"kind": "Listing", "data": {"children": [{"kind": "t3", "data": {"id": "a", "title": "Café", "author": "someone",
    "selftext": "Buy **it**: https://x.example/a", "link_flair_text": "Discussion", "upvote_ratio": null, "created_utc": 1768550400.0, "permalink": "/r/IndiaInvestments/comments/a/?x=y"}}]}}"#;

fn screener(method: &str, path: &str) -> (&'static str, String) {
    if path == "/screener/login/" && method == "POST" {
        return ("location: /dash/\r\nset-cookie: sessionid=s1\r\n", String::new());
    }
    if path == "/screener/login/" {
        let form = "<!doctype html><title>é</title><form method=post><input type=hidden name=csrfmiddlewaretoken value=t0>";
        return ("content-type: text/html\r\nset-cookie: csrftoken=first\r\n", form.to_owned());
    }
    (PAGE, screen_page(&["TCS"], 0, 1, 1, 1).replace("Limited", "Limit\u{e9}"))
}

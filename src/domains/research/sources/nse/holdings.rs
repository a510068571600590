//! Shareholding: the list of a company's filings, and the shares of a filing in percent.

use chrono::NaiveDate;
use serde::Deserialize;
use url::Url;

use super::{amount::Amount, day, xbrl::Shares};
use toolwire_sources::upstream::{
    address::address,
    http::{Answer, Failure},
    json::{Items, keep_ok},
    text::{Line, Link},
};

/// A filing of a quarter's shareholding.
#[derive(Clone, Debug, PartialEq)]
pub struct Filing {
    /// Last day of the quarter.
    pub date: NaiveDate,
    /// Where its XBRL is, as the exchange says.
    xbrl: Link,
    /// The promoters' share in percent, as the list says.
    promoter_pct: Option<f64>,
}

/// The holders of a company, in percent of all shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Holding {
    /// Last day of the quarter.
    pub date: NaiveDate,
    pub fii_pct: f64,
    pub dii_pct: f64,
    pub promoter_pct: f64,
    /// All others.
    pub public_pct: f64,
}

#[derive(Deserialize)]
struct Row {
    date: Line,
    xbrl: Option<Link>,
    #[serde(default, rename = "pr_and_prgrp")]
    promoters: Amount,
}

impl Row {
    /// `None` for a filing without a document.
    fn filing(self) -> Option<Result<Filing, Failure>> {
        let xbrl = self.xbrl.filter(|link| is_document(link))?;
        Some(day::parse(&self.date).map(|date| Filing { date, xbrl, promoter_pct: self.promoters.0 }))
    }
}

/// The filings of an answer that have an XBRL, newest first, one a quarter.
pub(super) fn parse(answer: &Answer) -> Result<Vec<Filing>, Failure> {
    let rows: Items<Row> = answer.json()?;
    let mut filings = keep_ok(rows.into_iter().filter_map(Row::filing))?;
    // Stable: of a filing and its revision the exchange lists the revision first.
    filings.sort_by_key(|filing| std::cmp::Reverse(filing.date));
    filings.dedup_by_key(|filing| filing.date);
    Ok(filings)
}

/// Where there is no document the exchange puts a dash, or an address that ends in one.
fn is_document(link: &str) -> bool {
    link.rsplit_once('.').is_some_and(|(_, extension)| extension.eq_ignore_ascii_case("xml"))
}

/// The address of a filing below the configured archives: the exchange names the document, never the host.
pub(super) fn address_of(filing: &Filing, archives: &Url) -> Result<Url, Failure> {
    let link =
        archives.join(&filing.xbrl).map_err(|_| Failure::malformed("a link that is not a valid address"))?;
    if link.origin() == archives.origin() && link.path().starts_with(archives.path()) {
        return Ok(link);
    }
    let path: Vec<_> = link.path().split('/').filter(|segment| !segment.is_empty()).collect();
    Ok(address(archives, &path, &[]))
}

/// How far the parts of a filing may be from what they add up to, in percent: each is rounded.
const ROUNDING: f64 = 0.1;

/// The shares of a filing in percent. Filings name only the kinds that have holders: one that is absent is 0 where the
/// others add up, else the filing is not understood.
pub(super) fn holding(filing: &Filing, shares: &Shares) -> Result<Holding, Failure> {
    let promoter_pct = match (shares.promoters, filing.promoter_pct) {
        (Some(promoters), _) => promoters,
        (None, Some(0.0)) => 0.0,
        (None, _) => absent("promoters", 100.0, &[shares.public, shares.trusts])?,
    };
    let of_public = [shares.fii, shares.dii, shares.government, shares.non_institutions];
    let institution = |share: Option<f64>, who| match (share, shares.public) {
        (Some(share), _) => Ok(share),
        (None, Some(public)) => absent(who, public, &of_public),
        (None, None) => Err(not_stated(who)),
    };
    let fii_pct = institution(shares.fii, "foreign institutions")?;
    let dii_pct = institution(shares.dii, "domestic institutions")?;
    let public_pct = 100.0 - fii_pct - dii_pct - promoter_pct;
    if !(-ROUNDING..=100.0).contains(&public_pct) {
        return Err(Failure::malformed("a filing whose parts exceed the whole"));
    }
    Ok(Holding { date: filing.date, fii_pct, dii_pct, promoter_pct, public_pct: public_pct.max(0.0) })
}

/// The share of holders whom a filing does not name: 0 if the others add up without them.
fn absent(who: &str, whole: f64, others: &[Option<f64>]) -> Result<f64, Failure> {
    let sum: f64 = others.iter().flatten().sum();
    if others.iter().any(Option::is_some) && (whole - sum).abs() <= ROUNDING {
        return Ok(0.0);
    }
    Err(not_stated(who))
}

fn not_stated(who: &str) -> Failure {
    Failure::malformed(format!("a filing that does not state the shares of {who}"))
}

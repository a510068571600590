//! The National Stock Exchange of India: bulk and block deals, institutional flows, shareholding, results
//! (`sources.md`).
//!
//! Every document needs a cookie that a page gives. Not here: prices, which come from elsewhere. The wire formats are
//! our own reconstructions, not checked against the live site.

mod amount;
mod day;
mod deals;
mod flows;
mod holdings;
mod results;
#[cfg(test)]
mod tests;
mod xbrl;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use ::http::{HeaderValue, StatusCode, header};
use chrono::NaiveDate;
use url::Url;

pub use deals::{Deal, DealKind, Side};
pub use flows::Flows;
pub use holdings::{Filing, Holding};
pub use results::FiledResult;

use super::{india, xml_text};
use toolwire_sources::upstream::{
    address::address,
    http::{Answer, Client, CredentialsOf, ExpectedBody, Failure, FailureKind, Outgoing, Profile},
    now::Now,
    token::SharedToken,
};
use toolwire_tool::context::ToolContext;

/// What the stack must know of the National Stock Exchange.
pub const PROFILE: Profile = Profile {
    name: "nse",
    title: "NSE",
    timeout: Duration::from_secs(10),
    max_body: 2 * 1024 * 1024,
    may_retry: true,
    credentials: CredentialsOf::None,
    check,
};

/// The connector of the National Stock Exchange.
#[derive(Debug)]
pub struct Nse {
    client: Client,
    settings: Settings,
    cookie: SharedToken<HeaderValue>,
}

/// Where the National Stock Exchange is, and when.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Base of the site, such as `https://www.nseindia.com/`. Ends in `/`.
    pub base: Url,
    /// Base of the archives that hold filings, such as `https://nsearchives.nseindia.com/`. Ends in `/`.
    pub archives: Url,
    pub now: Now,
    /// The first day with deals, if it is within the year that can be requested.
    pub first_deal: Option<NaiveDate>,
}

impl Nse {
    /// The connector over a client of [`PROFILE`].
    pub fn new(client: Client, settings: Settings) -> Self {
        Self { client, settings, cookie: SharedToken::default() }
    }

    /// The present day at the exchange.
    pub fn today(&self) -> NaiveDate {
        india::day(self.settings.now.get())
    }

    /// The first day with deals, if it is within the year that can be requested.
    pub fn first_deal(&self) -> Option<NaiveDate> {
        self.settings.first_deal
    }

    /// The bulk and block deals in a stock since a day, newest first. An unknown symbol has none.
    pub async fn deals(
        &self,
        symbol: &str,
        since: NaiveDate,
        context: &ToolContext,
    ) -> Result<Vec<Deal>, Failure> {
        // One after the other: the exchange spaces requests anyhow, and a refusal then costs one.
        let mut deals = self.deals_of(DealKind::Bulk, symbol, since, context).await?;
        deals.extend(self.deals_of(DealKind::Block, symbol, since, context).await?);
        deals.retain(|deal| since <= deal.date && deal.date <= self.today());
        // Stable: deals of a day keep the order of the exchange.
        deals.sort_by_key(|deal| std::cmp::Reverse(deal.date));
        Ok(deals)
    }

    /// What institutions bought and sold in the whole market on the last day.
    pub async fn flows(&self, context: &ToolContext) -> Result<Flows, Failure> {
        let answer = self.ask(&["api", "fiidiiTradeReact"], &[], ExpectedBody::Json, context).await?;
        self.client.read(answer, context, flows::parse).await
    }

    /// The filings of a company's shareholding, newest first. An unknown symbol is `NotFound`.
    pub async fn filings(&self, symbol: &str, context: &ToolContext) -> Result<Vec<Filing>, Failure> {
        let path = ["api", "corporate-share-holdings-master"];
        let query = [("index", "equities"), ("symbol", symbol)];
        let answer = self.ask(&path, &query, ExpectedBody::Json, context).await?;
        let filings = self.client.read(answer, context, holdings::parse).await?;
        if filings.is_empty() {
            let failure = Failure::new(FailureKind::NotFound, "no filing of a shareholding");
            return Err(self.client.complete_failure(failure, context));
        }
        Ok(filings)
    }

    /// The holders of the company, as a filing says.
    pub async fn holding(&self, filing: &Filing, context: &ToolContext) -> Result<Holding, Failure> {
        let url = holdings::address_of(filing, &self.settings.archives)
            .map_err(|failure| self.client.complete_failure(failure, context))?;
        let answer = self.client.send(named(Outgoing::get(url, ExpectedBody::Xml)), context).await?;
        let filing = filing.clone();
        let holding = move |answer: &Answer| {
            let shares = xbrl::parse(&xml_text::text(answer)?)?;
            holdings::holding(&filing, &shares)
        };
        self.client.read(answer, context, holding).await
    }

    /// The results that a company filed, newest first. An unknown symbol has none.
    pub async fn results(&self, symbol: &str, context: &ToolContext) -> Result<Vec<FiledResult>, Failure> {
        let path = ["api", "results-comparision"];
        let answer = self.ask(&path, &[("symbol", symbol)], ExpectedBody::Json, context).await?;
        self.client.read(answer, context, results::parse).await
    }

    async fn deals_of(
        &self,
        kind: DealKind,
        symbol: &str,
        since: NaiveDate,
        context: &ToolContext,
    ) -> Result<Vec<Deal>, Failure> {
        let path = ["api", "historicalOR", "bulk-block-short-deals"];
        let (from, to) = (day::query(since), day::query(self.today()));
        let mut query = vec![("optionType", kind.option()), ("symbol", symbol), ("from", &from), ("to", &to)];
        let answer = self.ask(&path, &query, ExpectedBody::Json, context).await?;
        let wanted = symbol.to_owned();
        let deals = move |answer: &Answer| deals::parse_json(answer, kind, &wanted);
        let deals = self.client.read(answer, context, deals).await?;
        if !deals.may_be_cut {
            return Ok(deals.deals);
        }
        query.push(("csv", "true"));
        let answer = self.ask(&path, &query, ExpectedBody::Text, context).await?;
        let wanted = symbol.to_owned();
        let deals = move |answer: &Answer| deals::parse_csv(answer, kind, &wanted);
        self.client.read(answer, context, deals).await
    }

    /// Asks with the kept cookie, and once more with a new one if the exchange refuses the old one: cookies end after
    /// minutes. A refusal with a new one is final.
    async fn ask(
        &self,
        path: &[&str],
        query: &[(&str, &str)],
        expected: ExpectedBody,
        context: &ToolContext,
    ) -> Result<Answer, Failure> {
        let url = address(&self.settings.base, path, query);
        let is_new = AtomicBool::new(false);
        let warm = async {
            is_new.store(true, Ordering::Relaxed);
            self.warm(context).await
        };
        let cookie = self.cookie.get(warm).await?;
        if is_new.into_inner() {
            return self.client.send(with_cookie(Outgoing::get(url, expected), &cookie), context).await;
        }
        // A refusal is not judged yet: it may only mean that the cookie is old.
        let request = with_cookie(Outgoing::get(url.clone(), expected), &cookie).accepting_if(refuses);
        let answer = self.client.send(request, context).await?;
        if !refuses(&answer) {
            return Ok(answer);
        }
        let cookie = self.cookie.renew(&cookie, self.warm(context)).await?;
        self.client.send(with_cookie(Outgoing::get(url, expected), &cookie), context).await
    }

    async fn warm(&self, context: &ToolContext) -> Result<HeaderValue, Failure> {
        let request = named(Outgoing::get(self.settings.base.clone(), ExpectedBody::Html));
        let answer = self.client.send(request, context).await.map_err(|failure| match failure.kind {
            // Sent away, or round in circles: its way of saying that it is too busy.
            FailureKind::Malformed => Failure { kind: FailureKind::Down, ..failure },
            _ => failure,
        })?;
        let cookies: Vec<_> = answer.cookies().map(|cookie| cookie.stripped().to_string()).collect();
        if cookies.is_empty() {
            return Err(self.client.complete_failure(Failure::malformed("the page set no cookie"), context));
        }
        HeaderValue::from_str(&cookies.join("; ")).map_err(|_| {
            self.client
                .complete_failure(Failure::malformed("a cookie that is not a valid header value"), context)
        })
    }
}

/// Checks what only the exchange sends: the page of a block, which grants no cookie; an error within a 200; and a
/// missing document, which says nothing about the stock. The common rules check HTML elsewhere and a 403.
fn check(answer: &Answer) -> Option<Failure> {
    match answer.status.as_u16() {
        200 if is_block(answer) => Some(Failure::new(FailureKind::Blocked, "the page of a block")),
        200 if is_error(answer) => Some(Failure::malformed("an error, or nothing at all, with HTTP 200")),
        status @ (404 | 410) => {
            let failure = Failure::new(FailureKind::NotFound, format!("HTTP {status}"));
            Some(failure.with_message("NSE does not have the document that was asked for."))
        }
        _ => None,
    }
}

fn is_block(answer: &Answer) -> bool {
    answer.is_html()
        && answer.cookies().next().is_none()
        && answer.text().contains("<title>NSE India</title>")
}

/// `{}`, or `{"error": true, …}`.
fn is_error(answer: &Answer) -> bool {
    // A body of data is never this short; a longer one is not parsed twice.
    const MAX_ERROR_BYTES: usize = 512;
    let is_short = answer.body.len() <= MAX_ERROR_BYTES;
    let object = is_short.then(|| answer.json::<serde_json::Map<String, serde_json::Value>>().ok()).flatten();
    object.is_some_and(|object| {
        let error = object.get("error").is_some_and(|error| !error.is_null() && error != false);
        error || object.is_empty()
    })
}

fn refuses(answer: &Answer) -> bool {
    matches!(answer.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) || answer.is_html()
}

fn with_cookie(outgoing: Outgoing, cookie: &HeaderValue) -> Outgoing {
    named(outgoing).with_header(header::COOKIE, cookie.clone())
}

fn named(outgoing: Outgoing) -> Outgoing {
    outgoing
        .with_header(header::REFERER, HeaderValue::from_static("https://www.nseindia.com/"))
        .with_header(header::ACCEPT_LANGUAGE, HeaderValue::from_static("en-US,en;q=0.9"))
}

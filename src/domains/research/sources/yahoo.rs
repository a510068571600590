//! Yahoo Finance: prices, fundamentals and quarterly results (`sources.md`).
//!
//! One method a document; a crumb is fetched only for the one that needs it. Not here: what the tools make of the
//! numbers. The wire formats are our own reconstructions, not checked against the live site.

mod chart;
mod check;
mod contradictions;
mod crumb;
mod envelope;
mod number;
mod request;
mod settings;
mod summary;
#[cfg(test)]
mod tests;
mod timeseries;

use std::time::Duration;

use ::http::{StatusCode, header};
use chrono::NaiveDate;

pub use chart::{Bar, Chart, Span};
pub use settings::Settings;
pub use summary::{EpsOfQuarter, ResultOfQuarter, Summary};
pub use timeseries::Timeseries;

use super::india;
use crumb::Crumb;
use toolwire_sources::upstream::{
    http::{Answer, Client, CredentialsOf, ExpectedBody, Failure, Outgoing, Part, Profile},
    token::SharedToken,
};
use toolwire_tool::context::ToolContext;

/// What the stack must know of Yahoo Finance.
pub const PROFILE: Profile = Profile {
    name: "yahoo",
    title: "Yahoo Finance",
    timeout: Duration::from_secs(10),
    max_body: 2 * 1024 * 1024,
    may_retry: true,
    credentials: CredentialsOf::None,
    check: check::check,
};

/// The National Stock Exchange of India.
const SUFFIX: &str = ".NS";
const MODULES: &str = "financialData,defaultKeyStatistics,summaryDetail,assetProfile,earnings";

/// What needs a crumb, which Yahoo may refuse while it gives out the rest.
const CRUMB: Part = Part { name: "yahoo/crumb", title: PROFILE.title };

/// The connector of Yahoo Finance.
#[derive(Debug)]
pub struct Yahoo {
    client: Client,
    with_crumb: Client,
    settings: Settings,
    crumb: SharedToken<Crumb>,
}

impl Yahoo {
    /// The connector over a client of [`PROFILE`].
    pub fn new(client: Client, settings: Settings) -> Self {
        let with_crumb = client.apart(CRUMB);
        Self { client, with_crumb, settings, crumb: SharedToken::default() }
    }

    /// The present day at the exchange.
    pub fn today(&self) -> NaiveDate {
        india::day(self.settings.now.get())
    }

    /// The daily prices of a stock. An unknown symbol is `NotFound`; a span without trading has no bars.
    pub async fn chart(&self, symbol: &str, span: Span, context: &ToolContext) -> Result<Chart, Failure> {
        let query = span.query();
        let query: Vec<_> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let request = self.get(&["v8", "finance", "chart", &with_suffix(symbol)], &query, ExpectedBody::Json);
        let answer = self.client.send(request, context).await?;
        let bounds = span.bounds(self.today());
        self.client.read(answer, context, move |answer| chart::parse(answer, bounds)).await
    }

    /// The fundamentals of a stock, with the results of recent quarters. Needs a crumb.
    pub async fn summary(&self, symbol: &str, context: &ToolContext) -> Result<Summary, Failure> {
        let client = &self.with_crumb;
        let fetch = || crumb::fetch(client, &self.settings, context);
        let told = |failure| client.complete_failure(failure, context);
        let crumb = self.crumb.get(fetch()).await.map_err(told)?;
        let request = self.summary_request(symbol, &crumb).accepting(StatusCode::UNAUTHORIZED);
        let answer = client.send(request, context).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return client.read(answer, context, summary).await;
        }
        let crumb = self.crumb.renew(&crumb, fetch()).await.map_err(told)?;
        let answer = client.send(self.summary_request(symbol, &crumb), context).await?;
        client.read(answer, context, summary).await
    }

    /// Revenue and net income by quarter since a day. Needs no crumb. Has no quarters for an unknown symbol.
    pub async fn timeseries(
        &self,
        symbol: &str,
        since: NaiveDate,
        context: &ToolContext,
    ) -> Result<Timeseries, Failure> {
        let symbol = with_suffix(symbol);
        let path = ["ws", "fundamentals-timeseries", "v1", "finance", "timeseries", &symbol];
        let period1 = india::start_of(since).to_string();
        let period2 = india::start_of(self.today() + chrono::Days::new(1)).to_string();
        let query = [("type", timeseries::TYPES), ("period1", &period1), ("period2", &period2)];
        let answer = self.client.send(self.get(&path, &query, ExpectedBody::Json), context).await?;
        self.client.read(answer, context, timeseries::parse).await
    }

    fn summary_request(&self, symbol: &str, crumb: &Crumb) -> Outgoing {
        let path = ["v10", "finance", "quoteSummary", &with_suffix(symbol)];
        let query = [("modules", MODULES), ("formatted", "false"), ("crumb", crumb.text())];
        self.get(&path, &query, ExpectedBody::Json).with_header(header::COOKIE, crumb.cookie())
    }

    fn get(&self, path: &[&str], query: &[(&str, &str)], expected: ExpectedBody) -> Outgoing {
        request::get(&self.settings, path, query, expected)
    }
}

fn summary(answer: &Answer) -> Result<Summary, Failure> {
    let mut summary = summary::parse(answer)?;
    contradictions::take_out(&mut summary);
    Ok(summary)
}

fn with_suffix(symbol: &str) -> String {
    format!("{symbol}{SUFFIX}")
}

//! A search of the web, through an engine with the JSON interface of `SearXNG`.
//!
//! Reads what an engine lists, never the pages themselves. The operator chooses the engine: there is no default.

use std::time::Duration;

use chrono::{DateTime, NaiveDate, Utc};
use http::{HeaderValue, header};
use serde::Deserialize;
use url::Url;

use toolwire_sources::upstream::{
    http::{Answer, Client, CredentialsOf, ExpectedBody, Failure, Outgoing, Profile},
    json::Items,
    limiter::Budget,
    now::Now,
    source::{Address, SourceSpec},
    text::{Line, Link, Passage, Raw},
};
use toolwire_tool::context::ToolContext;

/// What the stack must know of the engine.
pub const PROFILE: Profile = Profile {
    name: "search",
    title: "The web search",
    timeout: Duration::from_secs(10),
    max_body: 2 * 1024 * 1024,
    may_retry: true,
    credentials: CredentialsOf::None,
    check: |_| None,
};

/// Where it is: nowhere, until `[sources.search] endpoint` says so.
pub const SPEC: SourceSpec = SourceSpec {
    name: PROFILE.name,
    title: "Web search",
    addresses: &[Address::new(ENDPOINT, NOWHERE)],
    budget: Budget { max_requests: 30, window: Duration::from_mins(1), min_delay: Duration::from_secs(1) },
    timeout: PROFILE.timeout,
    names_itself: false,
    takes_users_credentials: false,
};

/// The key of its address.
pub const ENDPOINT: &str = "endpoint";
/// An address that leads nowhere (RFC 6761).
pub const NOWHERE: &str = "https://search.invalid/";

/// The longest text about a page, in characters.
const MAX_SNIPPET: usize = 500;

#[derive(Debug)]
pub struct Search {
    client: Client,
    base: Url,
    now: Now,
}

/// A page that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    pub title: Line,
    pub url: Link,
    /// What it says about the words.
    pub snippet: Passage,
    /// The day it was published, if the engine knows.
    pub published: Option<NaiveDate>,
}

#[derive(Deserialize)]
struct Answered {
    results: Items<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    #[serde(default)]
    url: Link,
    #[serde(default)]
    title: Line,
    content: Option<Raw>,
    #[serde(rename = "publishedDate")]
    published: Option<Line>,
}

impl Search {
    /// The connector to the engine at a base address, which ends in `/`.
    pub fn new(client: Client, base: Url, now: Now) -> Self {
        Self { client, base, now }
    }

    /// What time it is for the engine.
    pub fn now(&self) -> DateTime<Utc> {
        self.now.get().into()
    }

    /// Whether what answers is the embedded twin.
    pub fn is_embedded(&self) -> bool {
        self.now.recorded_at().is_some()
    }

    /// The pages that the engine finds for some words, best first. An empty list is not a failure.
    pub async fn find(&self, words: &str, context: &ToolContext) -> Result<Vec<Page>, Failure> {
        let mut url = self.base.join("search").map_err(|error| Failure::malformed(error.to_string()))?;
        url.query_pairs_mut().append_pair("q", words).append_pair("format", "json");
        let request = Outgoing::get(url, ExpectedBody::Json)
            .with_header(header::ACCEPT, HeaderValue::from_static("application/json"));
        let answer = self.client.send(request, context).await?;
        let pages = |answer: &Answer| {
            let Answered { results } = answer.json()?;
            Ok(results.into_iter().filter_map(page).collect())
        };
        self.client.read(answer, context, pages).await
    }
}

/// A page as it is shown. One without an address or a title is nothing to go on.
fn page(listed: Listed) -> Option<Page> {
    let is_address = listed.url.starts_with("https://") || listed.url.starts_with("http://");
    if !is_address || listed.title.is_empty() {
        return None;
    }
    let day = |text: &Line| text.get(..10)?.parse().ok();
    Some(Page {
        published: listed.published.as_ref().and_then(day),
        snippet: listed.content.unwrap_or_default().html(MAX_SNIPPET),
        title: listed.title,
        url: listed.url,
    })
}

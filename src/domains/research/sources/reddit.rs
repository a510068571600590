//! Reddit, by its API for applications without a user: the posts of a subreddit, and a search in one.
//!
//! Reads posts, never comments. Not here: what the mood of a post is.

mod basic;
mod budget;
mod check;
mod credentials;
mod post;
mod settings;
mod token;
mod wire;

use std::time::Duration;

use chrono::{DateTime, Utc};
use http::{HeaderValue, StatusCode, header};
use url::Url;

use self::{budget::Budget, token::Tokens, wire::Listing};
pub use self::{credentials::Credentials, post::Post, settings::Settings};
use toolwire_sources::upstream::http::{
    Answer, Client, CredentialsOf, ExpectedBody, Failure, Outgoing, Profile,
};
use toolwire_tool::context::ToolContext;

/// What the stack must know of Reddit.
pub const PROFILE: Profile = Profile {
    name: "reddit",
    title: "Reddit",
    timeout: Duration::from_secs(10),
    max_body: 2 * 1024 * 1024,
    may_retry: true,
    credentials: CredentialsOf::Service,
    check: check::check,
};

/// Maximum number of pinned posts of a subreddit, which always stand first.
const STICKIES: usize = 2;
/// The most posts that one request returns.
const MAX_LISTED: usize = 100;

#[derive(Debug)]
pub struct Reddit {
    client: Client,
    settings: Settings,
    tokens: Tokens,
    budget: Budget,
}

/// In which order a subreddit lists its posts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum Sort {
    Hot,
    New,
    /// Highest score of the day first.
    Top,
}

impl Reddit {
    /// The connector over the given client.
    pub fn new(client: Client, settings: Settings) -> Self {
        Self { client, settings, tokens: Tokens::default(), budget: Budget::default() }
    }

    pub fn now(&self) -> DateTime<Utc> {
        self.settings.now.get().into()
    }

    /// The posts of a subreddit, without those that always stand first, that were removed, or that are for adults.
    pub async fn posts(
        &self,
        subreddit: &str,
        sort: Sort,
        limit: usize,
        context: &ToolContext,
    ) -> Result<Vec<Post>, Failure> {
        // One more than requested, by which the caller knows whether there are more.
        let limit = (limit + STICKIES + 1).min(MAX_LISTED).to_string();
        let query = [("limit", limit.as_str()), ("raw_json", "1")];
        self.listing(&format!("r/{subreddit}/{}", sort.into_str()), &query, context)
            .await
            .map_err(|failure| self.client.complete_failure(failure, context))
    }

    /// The posts of a subreddit within a month in which something was found, newest first. An empty list is not a
    /// failure.
    pub async fn search(
        &self,
        subreddit: &str,
        query: &str,
        context: &ToolContext,
    ) -> Result<Vec<Post>, Failure> {
        let limit = MAX_LISTED.to_string();
        let query = [
            ("q", query),
            ("restrict_sr", "1"),
            ("sort", "new"),
            ("t", "month"),
            ("limit", &limit),
            ("raw_json", "1"),
        ];
        self.listing(&format!("r/{subreddit}/search"), &query, context)
            .await
            .map_err(|failure| self.client.complete_failure(failure, context))
    }

    async fn listing(
        &self,
        path: &str,
        query: &[(&str, &str)],
        context: &ToolContext,
    ) -> Result<Vec<Post>, Failure> {
        let mut url =
            self.settings.api_url.join(path).map_err(|error| Failure::malformed(error.to_string()))?;
        url.query_pairs_mut().extend_pairs(query);
        let answer = self.ask(&url, context).await?;
        let public_url = self.settings.public_url.clone();
        let posts = move |answer: &Answer| {
            let posts = answer.json::<Listing>()?.posts(&public_url);
            posts.ok_or_else(|| Failure::malformed("a listing of which no post can be read"))
        };
        self.client.read(answer, context, posts).await
    }

    /// Asks with a token; with a new one, once, if that is refused.
    async fn ask(&self, url: &Url, context: &ToolContext) -> Result<Answer, Failure> {
        let token = self.tokens.get(&self.client, &self.settings, context).await?;
        let request = self.request(url, &token.bearer).accepting(StatusCode::UNAUTHORIZED);
        let answer = self.send(request, context).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        self.tokens.forget(&token).await;
        let token = self.tokens.get(&self.client, &self.settings, context).await?;
        self.send(self.request(url, &token.bearer), context).await
    }

    fn request(&self, url: &Url, bearer: &HeaderValue) -> Outgoing {
        Outgoing::get(url.clone(), ExpectedBody::Json)
            .with_header(header::AUTHORIZATION, bearer.clone())
            .with_header(header::USER_AGENT, self.settings.user_agent.clone())
    }

    async fn send(&self, request: Outgoing, context: &ToolContext) -> Result<Answer, Failure> {
        self.budget.check()?;
        let answer = self.client.send(request, context).await?;
        self.budget.record(&answer);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests;

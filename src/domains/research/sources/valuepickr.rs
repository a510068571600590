//! ValuePickr, an investors' forum that runs Discourse: lists of topics, searches, and what a topic says.
//!
//! Not here: which topic is about which stock, and what the mood of its posts is.

mod check;
mod topic;
mod wire;

use std::time::Duration;

use chrono::{DateTime, Utc};
use http::{HeaderValue, header};
use serde::de::DeserializeOwned;
use url::Url;

pub use self::topic::{Discussion, Topic};
use self::wire::{Post, Posts, SearchPage, TopicPage, TopicsPage};
use toolwire_base::offload;
use toolwire_sources::upstream::{
    http::{Answer, Client, CredentialsOf, ExpectedBody, Failure, Outgoing, Profile},
    now::Now,
    text::Passage,
};
use toolwire_tool::context::ToolContext;

/// What the stack must know of ValuePickr.
pub const PROFILE: Profile = Profile {
    name: "valuepickr",
    title: "ValuePickr",
    timeout: Duration::from_secs(10),
    max_body: 2 * 1024 * 1024,
    may_retry: true,
    credentials: CredentialsOf::None,
    check: check::check,
};

/// Number of the newest posts that are read.
pub const RECENT_POSTS: usize = 5;
/// The bound on the opening post, in characters.
const MAX_THESIS: usize = 1500;
/// The bound on each newer post, in characters.
const MAX_POST: usize = 4000;

#[derive(Debug)]
pub struct ValuePickr {
    client: Client,
    settings: Settings,
}

/// Where the forum is.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where requests go. Ends in `/`.
    pub base_url: Url,
    /// Where people read the forum: the beginning of a topic's address. Ends in `/`.
    pub public_url: Url,
    /// What time it is there.
    pub now: Now,
}

/// In which order a search lists what it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Relevance,
    Latest,
}

impl ValuePickr {
    /// The connector over the given client.
    pub fn new(client: Client, settings: Settings) -> Self {
        Self { client, settings }
    }

    /// What time it is for the forum.
    pub fn now(&self) -> DateTime<Utc> {
        self.settings.now.get().into()
    }

    /// The topics with the latest activity. A pinned topic stands where its activity puts it.
    pub async fn latest(&self, context: &ToolContext) -> Result<Vec<Topic>, Failure> {
        let page: TopicsPage = self.ask("latest.json", &[], context).await?;
        let mut topics = page.topics();
        topics.sort_by_key(|topic| std::cmp::Reverse(topic.last_activity));
        Ok(topics)
    }

    /// The top topics of the month, as the forum ranks them.
    pub async fn top(&self, context: &ToolContext) -> Result<Vec<Topic>, Failure> {
        let page: TopicsPage = self.ask("top.json", &[("period", "monthly")], context).await?;
        Ok(page.topics())
    }

    /// The topics in which a text was found. An empty list is not a failure.
    pub async fn search(
        &self,
        text: &str,
        order: Order,
        context: &ToolContext,
    ) -> Result<Vec<Topic>, Failure> {
        let query = match order {
            Order::Relevance => text.to_owned(),
            Order::Latest => format!("{text} order:latest"),
        };
        let page: SearchPage = self.ask("search.json", &[("q", &query)], context).await?;
        Ok(page.topics())
    }

    /// The posts of a topic: its opening one and the newest ones, which take a second request in a long topic.
    pub async fn discussion(&self, topic: &Topic, context: &ToolContext) -> Result<Discussion, Failure> {
        let id = topic.id;
        let page: TopicPage = self.ask(&format!("t/{id}.json"), &[], context).await?;
        let last_activity = page.last_activity().unwrap_or(topic.last_activity);
        let newest = page.post_stream.newest(RECENT_POSTS);
        let mut posts = page.post_stream.posts.read;
        let missing: Vec<_> = newest
            .iter()
            .filter(|id| !posts.iter().any(|post| post.id == **id))
            .map(u64::to_string)
            .collect();
        if !missing.is_empty() {
            let wanted: Vec<_> = missing.iter().map(|id| ("post_ids[]", id.as_str())).collect();
            let more: Posts = self.ask(&format!("t/{id}/posts.json"), &wanted, context).await?;
            posts.extend(more.post_stream.posts.read);
        }
        let (thesis, recent) = texts(posts, newest).await;
        Ok(Discussion {
            url: self.address(&topic.slug, id),
            posts_count: page.posts_count.unwrap_or(topic.posts_count),
            last_activity,
            thesis,
            recent,
        })
    }

    async fn ask<T: DeserializeOwned + Send + 'static>(
        &self,
        path: &str,
        query: &[(&str, &str)],
        context: &ToolContext,
    ) -> Result<T, Failure> {
        let mut url =
            self.settings.base_url.join(path).map_err(|error| Failure::malformed(error.to_string()))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let request = Outgoing::get(url, ExpectedBody::Json)
            .with_header(header::ACCEPT, HeaderValue::from_static("application/json"));
        let answer = self.client.send(request, context).await?;
        self.client.read(answer, context, Answer::json).await
    }

    /// `<public>/t/<slug>/<id>`; whatever the slug holds stays one segment.
    fn address(&self, slug: &str, id: u64) -> Url {
        let mut url = self.settings.public_url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            let id = id.to_string();
            segments.pop_if_empty().extend(["t", if slug.is_empty() { "-" } else { slug }, &id]);
        }
        url
    }
}

/// The texts of the opening post and of the newest ones.
async fn texts(posts: Vec<Post>, newest: Vec<u64>) -> (Passage, Vec<Passage>) {
    let is_read = |post: &Post| post.number == 1 || newest.contains(&post.id);
    let posts: Vec<_> = posts.into_iter().filter(is_read).collect();
    let bytes = posts.iter().map(|post| post.cooked.len()).sum();
    let texts = move || {
        let opening = posts.iter().find(|post| post.number == 1);
        let said = |id: &u64| posts.iter().find(|post| post.id == *id && post.is_said());
        let recent = newest.iter().filter_map(said).map(|post| post.cooked.html(MAX_POST));
        (opening.map(|post| post.cooked.html(MAX_THESIS)).unwrap_or_default(), recent.collect())
    };
    offload::if_large(bytes, texts).await
}

#[cfg(test)]
mod tests;

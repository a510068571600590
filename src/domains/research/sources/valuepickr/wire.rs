//! The parts of Discourse's JSON that are read.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, de::IgnoredAny};

use super::topic::Topic;
use toolwire_sources::upstream::{
    json::{Flag, Items},
    text::{Identifier, Line, Raw},
};

/// `latest.json`, `top.json`.
#[derive(Deserialize)]
pub(super) struct TopicsPage {
    topic_list: TopicList,
}

#[derive(Deserialize)]
struct TopicList {
    topics: Items<ListedTopic>,
}

/// `search.json`. A search without hits may leave the topics out.
#[derive(Deserialize)]
pub(super) struct SearchPage {
    #[serde(default)]
    topics: Items<ListedTopic>,
    /// Always present: distinguishes a search from any other JSON.
    #[allow(dead_code, reason = "its presence is what is checked")]
    grouped_search_result: IgnoredAny,
}

#[derive(Deserialize)]
struct ListedTopic {
    id: u64,
    title: Line,
    #[serde(default, deserialize_with = "or_default")]
    slug: Identifier,
    #[serde(default, deserialize_with = "or_default")]
    posts_count: u32,
    last_posted_at: Option<Line>,
    bumped_at: Option<Line>,
    created_at: Option<Line>,
}

/// `t/{id}.json`.
#[derive(Deserialize)]
pub(super) struct TopicPage {
    pub(super) posts_count: Option<u32>,
    last_posted_at: Option<Line>,
    pub(super) post_stream: PostStream,
}

/// `t/{id}/posts.json`.
#[derive(Deserialize)]
pub(super) struct Posts {
    pub(super) post_stream: PostStream,
}

#[derive(Deserialize)]
pub(super) struct PostStream {
    pub(super) posts: Items<Post>,
    /// Every post of the topic, oldest first; `posts` holds the first 20 only.
    #[serde(default)]
    stream: Items<u64>,
}

#[derive(Deserialize)]
pub(super) struct Post {
    pub(super) id: u64,
    /// The opening post is number 1.
    #[serde(rename = "post_number")]
    pub(super) number: u32,
    /// Null, as `hidden`, of what only some may read.
    #[serde(default, deserialize_with = "or_default")]
    pub(super) cooked: Raw,
    #[serde(rename = "post_type")]
    kind: Option<u32>,
    #[serde(default)]
    hidden: Flag,
    deleted_at: Option<IgnoredAny>,
}

/// The `post_type` of what a person wrote; others say that a topic was closed, moved and so on.
const REGULAR: u32 = 1;

impl TopicsPage {
    pub(super) fn topics(self) -> Vec<Topic> {
        self.topic_list.topics.into_iter().filter_map(ListedTopic::topic).collect()
    }
}

impl SearchPage {
    pub(super) fn topics(self) -> Vec<Topic> {
        self.topics.into_iter().filter_map(ListedTopic::topic).collect()
    }
}

impl ListedTopic {
    /// `None` for a topic without any time, which cannot be placed.
    fn topic(self) -> Option<Topic> {
        let last_activity =
            time(self.last_posted_at).or_else(|| time(self.bumped_at)).or_else(|| time(self.created_at))?;
        Some(Topic {
            id: self.id,
            title: self.title,
            slug: self.slug,
            posts_count: self.posts_count,
            last_activity,
        })
    }
}

impl TopicPage {
    pub(super) fn last_activity(&self) -> Option<DateTime<Utc>> {
        time(self.last_posted_at.clone())
    }
}

impl PostStream {
    /// The newest posts after the opening one, oldest first.
    pub(super) fn newest(&self, count: usize) -> Vec<u64> {
        let after_opening = self.stream.read.get(1..).unwrap_or_default();
        after_opening[after_opening.len().saturating_sub(count)..].to_vec()
    }
}

impl Post {
    /// Whether a person wrote it, and it is still shown.
    pub(super) fn is_said(&self) -> bool {
        self.kind.is_none_or(|kind| kind == REGULAR) && !self.hidden.0 && self.deleted_at.is_none()
    }
}

/// What is null is as good as absent.
fn or_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn time(text: Option<Line>) -> Option<DateTime<Utc>> {
    DateTime::parse_from_rfc3339(&text?).ok().map(|time| time.to_utc())
}

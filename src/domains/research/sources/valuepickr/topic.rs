//! A topic as tools see it: in a list, and with its posts. Not here: the JSON of the forum (`wire`).

use chrono::{DateTime, Utc};
use url::Url;

use toolwire_sources::upstream::text::{Identifier, Line, Passage};

/// A discussion in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// The forum's number of it.
    pub id: u64,
    pub title: Line,
    /// The title as it stands in addresses. Empty if it could not.
    pub slug: Identifier,
    /// Number of posts, the opening one included.
    pub posts_count: u32,
    /// The time of the last post, or else when it was last moved up.
    pub last_activity: DateTime<Utc>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discussion {
    /// Its address for people.
    pub url: Url,
    /// Number of posts, the opening one included.
    pub posts_count: u32,
    /// The time of the last post.
    pub last_activity: DateTime<Utc>,
    /// The opening post, at most 1,500 characters.
    pub thesis: Passage,
    /// The newest posts after the opening one, oldest first.
    pub recent: Vec<Passage>,
}

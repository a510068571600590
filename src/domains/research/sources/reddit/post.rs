//! A post as tools see it. Not here: how Reddit writes it (`wire`).

use chrono::{DateTime, Utc};
use url::Url;

use toolwire_sources::upstream::text::{Identifier, Line, Passage};

#[derive(Clone, Debug, PartialEq)]
pub struct Post {
    pub id: Identifier,
    pub title: Line,
    /// Name of the author; `None` of a deleted account, or where something stands that is not a name.
    pub author: Option<Identifier>,
    /// What it says, whole; empty for a link.
    pub text: Passage,
    /// Up-votes less down-votes.
    pub score: i32,
    /// Share of up-votes, 0 to 1, unless votes are hidden.
    pub upvote_ratio: Option<f64>,
    pub num_comments: i32,
    /// When it was written.
    pub created_at: DateTime<Utc>,
    /// Its address for people.
    pub permalink: Url,
    pub flair: Option<Line>,
}

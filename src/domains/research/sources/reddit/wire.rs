//! The parts of Reddit's listings that are read.

use chrono::{DateTime, Utc};
use serde::{Deserialize, de::IgnoredAny};
use url::Url;

use super::post::Post;
use toolwire_sources::upstream::{
    json::{Flag, Items},
    text::{self, Identifier, Line, Passage, Raw},
};

/// The bound on what a post says, in characters.
const MAX_TEXT: usize = 4000;

/// A page of things.
#[derive(Deserialize)]
pub(super) struct Listing {
    data: Page,
}

#[derive(Deserialize)]
struct Page {
    children: Items<ListingChild>,
}

#[derive(Deserialize)]
struct ListingChild {
    kind: Line,
    data: serde_json::Value,
}

/// A thing of kind `t3`. `score` and `num_comments` are whole, `created_utc` is decimal seconds.
#[derive(Deserialize)]
struct Link {
    id: Identifier,
    title: Line,
    author: Option<Identifier>,
    #[serde(default)]
    selftext: Raw,
    #[serde(default)]
    score: i64,
    /// Null where votes are hidden.
    upvote_ratio: Option<f64>,
    #[serde(default)]
    num_comments: i64,
    created_utc: f64,
    #[serde(default)]
    permalink: text::Link,
    #[serde(rename = "link_flair_text")]
    flair: Option<Line>,
    #[serde(default)]
    stickied: Flag,
    #[serde(default)]
    over_18: Flag,
    removed_by_category: Option<IgnoredAny>,
}

/// The placeholders of texts that were removed.
const TAKEN_AWAY: [&str; 2] = ["[removed]", "[deleted]"];

impl Listing {
    /// The posts that may be shown. `None` where there are posts and none of them can be read.
    pub(super) fn posts(self, public: &Url) -> Option<Vec<Post>> {
        let links = self.data.children.into_iter().filter(|thing| &*thing.kind == "t3");
        let links: Items<Link> = Items::of(links.map(|thing| thing.data))?;
        Some(links.into_iter().filter(Link::is_shown).filter_map(|link| link.post(public)).collect())
    }
}

impl Link {
    fn is_shown(&self) -> bool {
        !self.stickied.0 && !self.over_18.0 && self.removed_by_category.is_none()
    }

    /// `None` for one without a time or an identifier.
    fn post(self, public: &Url) -> Option<Post> {
        let text = self.selftext.markdown(MAX_TEXT);
        if self.id.is_empty() {
            return None;
        }
        Some(Post {
            created_at: created_at(self.created_utc)?,
            permalink: address(public, &self.permalink, &self.id),
            id: self.id,
            title: self.title,
            author: self.author.filter(|name| !name.is_empty()),
            text: if TAKEN_AWAY.contains(&&*text) { Passage::default() } else { text },
            score: whole(self.score),
            upvote_ratio: self.upvote_ratio,
            num_comments: whole(self.num_comments),
            flair: self.flair.filter(|flair| !flair.is_empty()),
        })
    }
}

fn created_at(seconds: f64) -> Option<DateTime<Utc>> {
    #[allow(clippy::cast_possible_truncation, reason = "whole seconds; what is out of range is not a time")]
    DateTime::from_timestamp(seconds as i64, 0)
}

fn whole(count: i64) -> i32 {
    i32::try_from(count).unwrap_or(if count < 0 { i32::MIN } else { i32::MAX })
}

/// A post's address, always on the site for people, whatever the permalink says. A query stays one.
fn address(public: &Url, permalink: &str, id: &str) -> Url {
    let is_path = permalink.starts_with("/r/");
    let link = is_path.then(|| public.join(permalink).ok()).flatten();
    link.filter(|link| link.origin() == public.origin() && link.path().starts_with("/r/")).unwrap_or_else(
        || {
            let mut url = public.clone();
            if let Ok(mut segments) = url.path_segments_mut() {
                segments.pop_if_empty().extend(["comments", id]);
            }
            url
        },
    )
}

//! Reddit's listings, as far as they are read.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use url::Url;

use super::post::Post;
use crate::upstream::text;

/// The bound on what a post says, in characters.
const MAX_TEXT: usize = 4000;

/// Longer than any user's name.
const MAX_USER_NAME: usize = 32;

/// A page of things.
#[derive(Deserialize)]
pub(super) struct Listing {
    data: Page,
}

#[derive(Deserialize)]
struct Page {
    children: Vec<Thing>,
}

#[derive(Deserialize)]
struct Thing {
    kind: String,
    data: serde_json::Value,
}

/// A thing of kind `t3`. `score` and `num_comments` are whole, `created_utc` is decimal seconds.
#[derive(Deserialize)]
struct Link {
    id: String,
    title: String,
    author: Option<String>,
    #[serde(default)]
    selftext: String,
    #[serde(default)]
    score: i64,
    /// Null where votes are hidden.
    upvote_ratio: Option<f64>,
    #[serde(default)]
    num_comments: i64,
    created_utc: f64,
    #[serde(default)]
    permalink: String,
    #[serde(rename = "link_flair_text")]
    flair: Option<String>,
    #[serde(default)]
    stickied: bool,
    #[serde(default)]
    over_18: bool,
    removed_by_category: Option<String>,
}

/// What stands where a text was taken away.
const TAKEN_AWAY: [&str; 2] = ["[removed]", "[deleted]"];

impl Listing {
    /// The posts that may be shown.
    pub(super) fn posts(self, public: &Url) -> Result<Vec<Post>, serde_json::Error> {
        let links = self.data.children.into_iter().filter(|thing| thing.kind == "t3");
        let links: Vec<Link> =
            links.map(|thing| serde_json::from_value(thing.data)).collect::<Result<_, _>>()?;
        Ok(links.into_iter().filter(Link::is_shown).filter_map(|link| link.post(public)).collect())
    }
}

impl Link {
    fn is_shown(&self) -> bool {
        !self.stickied && !self.over_18 && self.removed_by_category.is_none()
    }

    fn post(self, public: &Url) -> Option<Post> {
        let is_taken_away = TAKEN_AWAY.contains(&self.selftext.trim());
        Some(Post {
            created_at: created_at(self.created_utc)?,
            permalink: address(public, &self.permalink, &self.id),
            id: text::title(&self.id),
            title: text::title(&self.title),
            author: user_name(self.author.as_deref().unwrap_or("[deleted]")),
            text: if is_taken_away { String::new() } else { text::markdown(&self.selftext, MAX_TEXT) },
            score: whole(self.score),
            upvote_ratio: self.upvote_ratio,
            num_comments: whole(self.num_comments),
            flair: self.flair.map(|flair| text::title(&flair)).filter(|flair| !flair.is_empty()),
        })
    }
}

/// A user's name exactly as it is, if it is one: of two that differ in a sign, the other may be somebody.
fn user_name(name: &str) -> String {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if name.len() <= MAX_USER_NAME && name.bytes().all(is_part) { name.to_owned() } else { text::title(name) }
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

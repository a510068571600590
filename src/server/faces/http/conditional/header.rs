//! Parses conditional headers: lists of entity tags, and HTTP dates.

use std::time::SystemTime;

use http::{HeaderMap, HeaderName};

use crate::service::request::refuse;
use toolwire_contract::Refusal;

/// The entity tags of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tags {
    /// `*`: matches every representation.
    Any,
    Listed(Vec<Tag>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Whether the tag is weak: `W/`.
    pub is_weak: bool,
    /// The opaque part, without its quotation marks.
    pub text: String,
}

impl Tags {
    /// Strong comparison (RFC 9110 §8.8.3.2) with a tag of this server, which is always strong: a weak tag never
    /// matches.
    pub fn match_strongly(&self, etag: &str) -> bool {
        self.any(|tag| !tag.is_weak && unquote(etag) == Some(&tag.text))
    }

    /// Weak comparison with a tag of this server.
    pub fn match_weakly(&self, etag: &str) -> bool {
        self.any(|tag| unquote(etag) == Some(&tag.text))
    }

    fn any(&self, is_matched: impl FnMut(&Tag) -> bool) -> bool {
        match self {
            Self::Any => true,
            Self::Listed(tags) => tags.iter().any(is_matched),
        }
    }
}

fn unquote(etag: &str) -> Option<&str> {
    etag.strip_prefix('"')?.strip_suffix('"')
}

/// The tags of a header, whose name callers read as it is `written`; `None` without one. Several lines are one list.
pub(super) fn tags(headers: &HeaderMap, name: &HeaderName, written: &str) -> Result<Option<Tags>, Refusal> {
    if !headers.contains_key(name) {
        return Ok(None);
    }
    let lines: Vec<_> = headers.get_all(name).iter().map(http::HeaderValue::as_bytes).collect();
    let joined = lines.join(&b","[..]);
    if joined.trim_ascii() == b"*" {
        return Ok(Some(Tags::Any));
    }
    let what = "must be `*` or a list of entity tags in quotation marks, such as \"a\", \"b\"";
    let listed = parse_list(&joined).ok_or_else(|| refuse(written, "format", what))?;
    Ok(Some(Tags::Listed(listed)))
}

/// A list of tags; empty elements are none (RFC 9110 §5.6.1).
fn parse_list(mut rest: &[u8]) -> Option<Vec<Tag>> {
    let mut tags = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        if let Some(more) = rest.strip_prefix(b",") {
            rest = more;
            continue;
        }
        if rest.is_empty() {
            return Some(tags);
        }
        let unmarked = rest.strip_prefix(b"W/");
        let opened = unmarked.unwrap_or(rest).strip_prefix(b"\"")?;
        let (text, after) = opened.split_at(opened.iter().position(|byte| *byte == b'"')?);
        if !text.iter().all(|byte| matches!(byte, 0x21 | 0x23..=0x7e | 0x80..)) {
            return None;
        }
        // A tag that is not UTF-8 matches none of this server, in any decoding.
        tags.push(Tag { is_weak: unmarked.is_some(), text: String::from_utf8_lossy(text).into_owned() });
        rest = after[1..].trim_ascii_start();
        if !rest.is_empty() && !rest.starts_with(b",") {
            return None;
        }
    }
}

/// The date of a header. One that is malformed, or sent twice, is ignored (RFC 9110 §13.1.3).
pub(super) fn date(headers: &HeaderMap, name: &HeaderName) -> Option<SystemTime> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => httpdate::parse_http_date(value.to_str().ok()?).ok(),
        _ => None,
    }
}

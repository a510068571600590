//! What a source answered: status, headers, and the whole body, which is bounded.

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use serde::de::DeserializeOwned;
use url::Url;

use super::{Failure, FailureKind};

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, decompressed, at most as large as the source's profile allows.
    pub body: Bytes,
    /// What was asked for.
    pub url: Url,
}

impl Answer {
    /// The body as text; what is not UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_slice(&self.body).map_err(|error| {
            Failure::new(FailureKind::Malformed, format!("not the JSON that was due: {error}"))
        })
    }

    /// The media type without parameters, in lower case; empty without one.
    pub fn media_type(&self) -> String {
        let value = self.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_lowercase()
    }

    /// Whether the body is an HTML page, whatever its headers say.
    pub fn is_html(&self) -> bool {
        let start = self.body.trim_ascii_start();
        let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
        let head = &start[..start.len().min(256)];
        let head = String::from_utf8_lossy(head).to_lowercase();
        head.starts_with("<!doctype html") || head.starts_with("<html") || head.starts_with("<head")
    }

    /// The cookies that were set, as `name=value`.
    pub fn cookies(&self) -> impl Iterator<Item = (&str, &str)> {
        let set = self.headers.get_all(header::SET_COOKIE).iter().filter_map(|value| value.to_str().ok());
        set.filter_map(|cookie| cookie.split(';').next()?.trim().split_once('='))
    }
}

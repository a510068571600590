//! Preconditions of a write, and their evaluation.
//!
//! Etags are compared byte by byte: weak comparison of HTTP is the parser's task.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{document::Document, refusal::Refused};

/// The required state of a path before a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Any,
    /// No document, or a deleted one.
    New,
    /// The document with this etag.
    Etag(String),
    /// The conditions of a conditional request.
    If(Precondition),
}

/// The conditions of a request (RFC 9110 §13). A deleted document counts as absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    /// A document with one of these etags must exist.
    pub if_match: Option<Etags>,
    /// No document with one of these etags may exist.
    pub if_none_match: Option<Etags>,
    /// The document must not have changed after this second. Ignored if `if_match` is present.
    pub if_unmodified_since: Option<SystemTime>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Etags {
    Any,
    Only(Vec<String>),
}

impl Etags {
    fn contain(&self, etag: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Only(etags) => etags.iter().any(|it| it == etag),
        }
    }
}

impl Expected {
    /// Checks whether the existing document may be replaced.
    pub fn check(&self, found: Option<&Document>) -> Result<(), Refused> {
        match (self, found) {
            (Self::Any, _) | (Self::New, None) => Ok(()),
            (Self::New, Some(found)) if found.is_deleted() => Ok(()),
            (Self::New, Some(found)) => Err(Refused::Exists(found.etag.clone())),
            (Self::Etag(_), None) => Err(Refused::Unknown),
            (Self::Etag(etag), Some(found)) if *etag == found.etag => Ok(()),
            (Self::Etag(_), Some(found)) => Err(Refused::Stale(found.etag.clone())),
            (Self::If(precondition), found) => precondition.check(found.filter(|it| !it.is_deleted())),
        }
    }

    /// Whether the caller requires this etag.
    pub fn names(&self, etag: &str) -> bool {
        match self {
            Self::Etag(named) => named == etag,
            Self::If(Precondition { if_match: Some(Etags::Only(named)), .. }) => {
                named.iter().any(|it| it == etag)
            }
            Self::Any | Self::New | Self::If(_) => false,
        }
    }
}

/// Parses the contract's `etag`: empty for any, `*` for a new path, or an etag.
impl<T: AsRef<str> + ?Sized> From<&T> for Expected {
    fn from(etag: &T) -> Self {
        match etag.as_ref() {
            "" => Self::Any,
            "*" => Self::New,
            etag => Self::Etag(etag.to_owned()),
        }
    }
}

impl Precondition {
    /// Adds the contract's `etag`, which must match too.
    pub fn with_etag(mut self, etag: &str) -> Self {
        match Expected::from(etag) {
            Expected::New => self.if_none_match = Some(Etags::Any),
            Expected::Etag(etag) => {
                let both = self.if_match.is_none_or(|etags| etags.contain(&etag));
                self.if_match = Some(Etags::Only(both.then_some(etag).into_iter().collect()));
            }
            Expected::Any | Expected::If(_) => {}
        }
        self
    }

    /// Evaluates in the order of RFC 9110 §13.2.2.
    fn check(&self, found: Option<&Document>) -> Result<(), Refused> {
        let etag = || found.map(|it| it.etag.clone()).unwrap_or_default();
        match (&self.if_match, self.if_unmodified_since, found) {
            (Some(_), _, None) => return Err(Refused::Absent),
            (Some(etags), _, Some(found)) if !etags.contain(&found.etag) => {
                return Err(Refused::Stale(etag()));
            }
            (None, Some(since), Some(found)) if second(found.updated_at) > second(since) => {
                return Err(Refused::Stale(etag()));
            }
            _ => {}
        }
        match (&self.if_none_match, found) {
            (Some(etags), Some(found)) if etags.contain(&found.etag) => Err(Refused::Exists(etag())),
            _ => Ok(()),
        }
    }
}

/// HTTP dates have a resolution of one second.
fn second(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

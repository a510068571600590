//! What must be at a path when something is written there, and the check of it.
//!
//! Etags are compared whole: what makes two of them alike over HTTP is decided where they are read.

use std::time::{SystemTime, UNIX_EPOCH};

use super::{document::Document, refused::Refused};

/// What must be at a path where something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    Any,
    /// Nothing, or a document that is deleted.
    New,
    /// The document of this etag.
    Etag(String),
    /// What a conditional request states.
    If(Precondition),
}

/// The conditions of a request (RFC 9110 §13). A deleted document is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precondition {
    /// A document with one of these etags must be there.
    pub if_match: Option<Etags>,
    /// No document with one of these etags may be there.
    pub if_none_match: Option<Etags>,
    /// It must not have changed after this second. Ignored beside `if_match`.
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
    /// Whether what is there may be written over.
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

    /// Whether a caller names this etag as one that must be there.
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

/// As the contract's `etag` says it: empty, `*` for a path that must be new, or an etag.
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
    /// The same with the contract's `etag`, which must hold too.
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

    /// In the order of RFC 9110 §13.2.2.
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

/// HTTP's dates have no fractions of a second.
fn second(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

//! Filters and search terms, and what a search finds.

use std::time::SystemTime;

/// Which documents are meant. Criteria are combined with AND.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    /// Paths that begin so.
    pub path_prefix: String,
    pub tags: Vec<String>,
    /// The type, or its beginning with `/*`.
    pub mime_type: String,
    pub created_by: String,
    /// Who changed it last.
    pub updated_by: String,
    /// Changed at or after this instant.
    pub since: Option<SystemTime>,
    /// Changed before this instant.
    pub until: Option<SystemTime>,
    /// Also those that are deleted.
    pub deleted: bool,
}

/// A part of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A stem.
    Word(String),
    /// Stems of words that follow each other.
    Phrase(Vec<String>),
}

/// The documents of a tree that contain the parts of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Documents of the tree.
    pub documents: u64,
    /// For each part, the documents that contain it, by identifier, each once with the weight of the part in it, from 1
    /// to 8. In no order.
    pub parts: Vec<Vec<(i64, u8)>>,
}

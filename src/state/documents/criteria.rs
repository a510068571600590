//! Filters and search terms, and the matches of a search.

use std::time::SystemTime;

/// Selects documents. Criteria are combined with AND; empty ones match every document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    pub path_prefix: String,
    pub tags: Vec<String>,
    /// The MIME type, or its first part followed by `/*`.
    pub mime_type: String,
    pub created_by: String,
    /// The task or user that changed it last.
    pub updated_by: String,
    /// Changed at or after this instant.
    pub since: Option<SystemTime>,
    /// Changed before this instant.
    pub until: Option<SystemTime>,
    /// Includes deleted documents.
    pub deleted: bool,
}

/// A term of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// The stem of a word.
    Word(String),
    /// The stems of consecutive words.
    Phrase(Vec<String>),
}

/// The documents of a tree that contain the terms of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Number of documents of the tree.
    pub documents: u64,
    /// For each term, the documents that contain it, by identifier, each once with the weight of the term in it, from 1
    /// to 8. Unordered.
    pub parts: Vec<Vec<(i64, u8)>>,
}

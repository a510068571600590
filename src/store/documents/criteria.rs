//! Which documents are meant, and where words stand.

use std::time::SystemTime;

use super::document::Document;

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
pub enum Wanted {
    Word(String),
    /// Words one after the other, stemmed.
    Phrase(Vec<String>),
}

/// Where the parts of a query stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Postings {
    /// How many documents the tree has.
    pub documents: u64,
    /// For each part the documents that have it, by their row, each with the step from 1 to 8 that says how much it is
    /// about it. In order of row within a step.
    pub parts: Vec<Vec<(i64, u8)>>,
}

/// A document by its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub id: i64,
    pub document: Document,
}

//! The workspace of a tree of tasks: the documents that its tasks share, apart from every other tree's.
//!
//! What is read out of a document (type, tokens, summary, blocks, words) is a pure function of its bytes: the same each
//! time, for whatever bytes come.

pub mod blocks;
pub mod image;
pub mod mime;
pub mod path;
pub mod query;
pub mod summary;
pub mod terms;
pub mod tokens;
pub mod utf8;

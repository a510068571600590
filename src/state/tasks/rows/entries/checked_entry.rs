//! Whole timelines, for the consistency check.

use super::StoredEntry;
use toolwire_db::{
    Error,
    sql::{FromRow, Row, Statement, sql},
};
use toolwire_tool::context::TaskId;

/// A row of `entries` with its external texts. An entry that cannot be read is an error of its own.
#[derive(Debug)]
pub(crate) struct CheckedEntry {
    pub(crate) sequence: u64,
    pub(crate) entry: Result<StoredEntry, Error>,
    pub(crate) kind: String,
    pub(crate) answers: Option<u64>,
    pub(crate) external_input: Option<String>,
    pub(crate) external_result: Option<String>,
}

impl FromRow for CheckedEntry {
    fn from_row(row: &Row) -> Result<Self, Error> {
        Ok(Self {
            sequence: row.get("seq")?,
            entry: StoredEntry::from_row(row),
            kind: row.get("kind")?,
            answers: row.get("answers")?,
            external_input: row.get("external_input")?,
            external_result: row.get("external_result")?,
        })
    }
}

/// The entries of a task in order.
pub(crate) fn timeline(task: &TaskId) -> Statement<CheckedEntry> {
    sql!(
        "SELECT e.*, i.text AS external_input, r.text AS external_result FROM entries e
          LEFT JOIN entry_parts i ON i.task = e.task AND i.seq = e.seq AND i.part = 'input'
          LEFT JOIN entry_parts r ON r.task = e.task AND r.seq = e.seq AND r.part = 'result'
         WHERE e.task = {task} ORDER BY e.seq"
    )
}

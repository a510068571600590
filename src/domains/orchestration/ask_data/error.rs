//! Why a question has no answer, in words for the caller.

use thiserror::Error;

use super::{
    bounds::{MAX_CELLS, MAX_COLUMNS, MAX_DOCUMENT_BYTES, MAX_ROWS},
    value::Kind,
};

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AskError {
    /// The document has too many bytes.
    #[error("the document is larger than {MAX_DOCUMENT_BYTES} bytes, the most that ask_data reads")]
    TooLarge,
    /// It has too many rows, columns or cells.
    #[error("the table has more than {MAX_ROWS} rows, {MAX_COLUMNS} columns or {MAX_CELLS} cells")]
    TooMany,
    /// It cannot be read as a table.
    #[error("the document is not a table: {0}")]
    NotATable(String),
    /// There is no such column.
    #[error("there is no column `{name}`{near}")]
    UnknownColumn {
        name: String,
        /// `. Did you mean …?`, or nothing.
        near: String,
    },
    /// A function other than `count` has no column, or there is neither.
    #[error("name a column: only `count` does without one")]
    NoColumn,
    /// A column is shown for a group, though its rows differ in it.
    #[error(
        "`{0}` is neither in group_by nor in a function: add it there, or use count, sum, avg, min or max of it"
    )]
    NotGrouped(String),
    /// The function is one of numbers.
    #[error("`{function}` needs a decimal column, and `{column}` is {kind}", kind = .kind.into_str())]
    NotDecimal { function: &'static str, column: String, kind: Kind },
    /// The value cannot be compared with the column.
    #[error("`{operator}` of `{column}` needs {needed}, not {found}")]
    Value { operator: &'static str, column: String, needed: &'static str, found: String },
    /// There are more groups than are kept.
    #[error("there are more than {0} groups: group by columns with fewer values, or filter first")]
    TooManyGroups(usize),
    /// A sum is beyond what a decimal holds.
    #[error("the sum of `{0}` has more than 28 digits")]
    Overflow(String),
    /// It took too long.
    #[error("it took too long: filter the document into a smaller one first")]
    Late,
}

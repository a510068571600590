//! Bounds on what is read, kept and shown.

/// Maximum size of a document, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Maximum number of rows of a table.
pub(super) const MAX_ROWS: usize = 1_000_000;
/// Maximum number of columns of a table.
pub(super) const MAX_COLUMNS: usize = 1_000;
/// Maximum number of cells of a table.
pub(super) const MAX_CELLS: usize = 16_000_000;
/// Maximum number of groups, all of which are in memory while rows are read.
pub(super) const MAX_GROUPS: usize = 100_000;
/// Maximum number of rows of an answer.
pub const MOST_SHOWN: usize = 1_000;
/// Maximum size of the cells of an answer, in bytes.
pub(super) const MAX_BYTES: usize = 1024 * 1024;

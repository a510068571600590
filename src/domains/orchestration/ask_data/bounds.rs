//! Bounds on what is read, kept and shown.

/// The most bytes of a document.
pub const LARGEST: usize = 16 * 1024 * 1024;
/// The most rows of a table.
pub(super) const MOST_ROWS: usize = 1_000_000;
/// The most columns of a table.
pub(super) const MOST_COLUMNS: usize = 1_000;
/// The most cells of a table.
pub(super) const MOST_CELLS: usize = 16_000_000;
/// The most groups that are kept while rows are read.
pub(super) const MOST_GROUPS: usize = 100_000;
/// The most rows of an answer.
pub const MOST_SHOWN: usize = 1_000;
/// The most bytes of an answer's cells.
pub(super) const MOST_BYTES: usize = 1024 * 1024;

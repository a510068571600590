//! The bounds of trees and timelines.

use std::time::Duration;

/// So many tasks may stand above another.
pub const MAX_DEPTH: u32 = 8;

/// A task waits for so many things at once.
pub const MAX_WAITS: usize = 16;

/// A tree has so many tasks.
pub const MAX_TASKS: u32 = 1_000;

/// The timelines of a tree have so many bytes.
pub const MAX_TREE_BYTES: u64 = 1024 * 1024 * 1024;

/// The timelines of all trees of a user have so many bytes, those that have ended among them, until they are forgotten.
pub const MAX_USER_BYTES: u64 = 5 * 1024 * 1024 * 1024;

/// A user has so many trees that have not ended.
pub const MAX_OPEN_TREES: u32 = 100;

/// A timeline has so many entries.
pub const MAX_ENTRIES: u64 = 100_000;

/// A timeline has so many bytes.
pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// So many entries of a timeline are kept for what ends it.
pub const ENTRIES_FOR_THE_END: u64 = 16;

/// Parts of an entry that have more bytes are kept apart from it.
pub const MAX_PART: usize = 16 * 1024;

/// A page of a timeline or of a list ends at so many bytes.
pub const MAX_PAGE_BYTES: usize = 2 * 1024 * 1024;

/// How long the answers to changes with an identifier are kept.
pub const MUTATIONS_KEPT: Duration = Duration::from_hours(24);

/// How long a task has, if nobody says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_hours(24);

/// The longest time that a task may have.
pub const MAX_TIMEOUT: Duration = Duration::from_hours(24 * 30);

//! The bounds of trees and timelines.

use std::time::Duration;

/// The maximum depth of a task: the number of tasks above it.
pub const MAX_DEPTH: u32 = 8;

/// The maximum number of things that a task waits for at once.
pub const MAX_WAITS: usize = 16;

/// The maximum number of tasks in a tree.
pub const MAX_TASKS: u32 = 1_000;

/// The maximum bytes of the timelines of a tree.
pub const MAX_TREE_BYTES: u64 = 1024 * 1024 * 1024;

/// The maximum bytes of the timelines of a user's trees. Those of trees that have ended count until they are deleted.
pub const MAX_USER_BYTES: u64 = 5 * 1024 * 1024 * 1024;

/// The maximum number of a user's trees that have not ended.
pub const MAX_OPEN_TREES: u32 = 100;

/// The maximum number of entries of a timeline.
pub const MAX_ENTRIES: u64 = 100_000;

/// The maximum bytes of a timeline.
pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The number of entries of a timeline that are reserved for its end.
pub const ENTRIES_FOR_THE_END: u64 = 16;

/// The maximum bytes of a text that is stored with its entry.
pub const MAX_INLINE_TEXT: usize = 16 * 1024;

/// The maximum bytes of a page of a timeline or of a list.
pub const MAX_PAGE_BYTES: usize = 2 * 1024 * 1024;

/// The time for which the answers to changes with a `request_id` are kept.
pub const MUTATIONS_KEPT: Duration = Duration::from_hours(24);

/// The time that a task has by default.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_hours(24);

/// The longest time that a task may have.
pub const MAX_TIMEOUT: Duration = Duration::from_hours(24 * 30);

//! Limits of trees and timelines.

use std::time::Duration;

/// Maximum depth of a task: the number of its ancestors.
pub const MAX_DEPTH: u32 = 8;

/// Maximum number of concurrent waits of a task.
pub const MAX_WAITS: usize = 16;

/// Maximum number of tasks in a tree.
pub const MAX_TASKS: u32 = 1_000;

/// Maximum bytes of the timelines of a tree.
pub const MAX_TREE_BYTES: u64 = 1024 * 1024 * 1024;

/// Maximum bytes of the timelines of a user's trees, including trees that have ended until they are deleted.
pub const MAX_USER_BYTES: u64 = 5 * 1024 * 1024 * 1024;

/// Maximum number of a user's trees that have not ended.
pub const MAX_OPEN_TREES: u32 = 100;

/// Maximum number of entries of a timeline.
pub const MAX_ENTRIES: u64 = 100_000;

/// Maximum bytes of a timeline.
pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Number of entries of a timeline that are reserved for its end.
pub const RESERVED_ENTRIES: u64 = 16;

/// Maximum bytes of a text that is stored inline, with its entry.
pub const MAX_INLINE_TEXT: usize = 16 * 1024;

/// Maximum bytes of a page of a timeline or of a list.
pub const MAX_PAGE_BYTES: usize = 2 * 1024 * 1024;

/// How long responses to requests with a `request_id` are retained for repeats.
pub const MUTATION_RETENTION: Duration = Duration::from_hours(24);

/// Default time limit of a task.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_hours(24);

/// Maximum time limit of a task.
pub const MAX_TIMEOUT: Duration = Duration::from_hours(24 * 30);

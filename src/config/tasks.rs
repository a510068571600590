//! Settings of tasks: the retention of ended ones.

use std::time::Duration;

use super::settings::{longer_than_zero, settings};

settings! {
    /// Trees of tasks: `[tasks]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Tasks in "tasks" {
        /// How long a tree is kept after its end, with its timelines and documents.
        keep: Duration = Duration::from_hours(24 * 30), "TOOLWIRE_TASKS_KEEP", as longer_than_zero;
    }
}

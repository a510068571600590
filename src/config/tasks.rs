//! Settings of tasks: how long what ended is kept.

use std::time::Duration;

use super::{reader::Reader, setting::Setting};

/// Trees of tasks: `[tasks]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tasks {
    /// How long a tree is kept after its end, with its timelines and documents. `keep`, `TOOLWIRE_TASKS_KEEP`, default
    /// `720h`.
    pub keep: Duration,
}

impl Default for Tasks {
    fn default() -> Self {
        Self { keep: Duration::from_hours(24 * 30) }
    }
}

impl Tasks {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let keep = Setting::new("tasks.keep", "TOOLWIRE_TASKS_KEEP");
        let keep = reader.value(keep, Self::default().keep);
        if keep.is_zero() {
            reader.problem("tasks.keep", "must be longer than zero");
        }
        Self { keep }
    }
}

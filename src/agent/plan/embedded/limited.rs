//! Whether what was found out is limited to the time that a message names.

use chrono::NaiveDate;

use super::{index::Index, slots::Slot, times::Times, words::words};

/// Whether a message names dates or a time that is over, and none of these tools takes a time.
pub(in crate::agent::plan) fn leaves_time_out(
    index: &Index,
    tools: &[&str],
    message: &str,
    today: NaiveDate,
) -> bool {
    let called = index.tools.iter().filter(|it| tools.contains(&it.tool.definition.name.as_str()));
    let mut slots = called.flat_map(|it| &it.slots);
    Times::of(&words(message), today).is_narrow() && !slots.any(Slot::takes_a_time)
}

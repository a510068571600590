//! The status of a task, in words.

use crate::words;
use toolwire_base::words::visible;
use toolwire_contract::proto::tasks::v1::{self, waiting::Thing};

/// `blocked (child), waits for task_…`
pub(super) fn describe_status(task: &v1::Task) -> String {
    let state = words::task_state(task.state());
    let reason = match task.block_reason() {
        v1::BlockReason::Unspecified => String::new(),
        reason => format!(" ({})", words::block_reason(reason)),
    };
    let waits: Vec<_> = task.waiting.iter().filter_map(|wait| wait.thing.as_ref()).map(name).collect();
    let waits = if waits.is_empty() { String::new() } else { format!(", waits for {}", waits.join(", ")) };
    let message =
        if task.message.is_empty() { String::new() } else { format!(": {}", visible(&task.message)) };
    format!("{state}{reason}{waits}{message}")
}

fn name(thing: &Thing) -> String {
    match thing {
        Thing::TaskId(it) | Thing::ConfirmationId(it) | Thing::CallId(it) | Thing::Source(it) => visible(it),
    }
}

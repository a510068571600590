//! Words for a wait.

use std::time::Duration;

use crate::context::ToolContext;

/// Shorter waits are not worth an event.
const WORTH_TELLING: Duration = Duration::from_millis(500);

/// Tells the caller that a call waits for a source.
pub(super) fn tell(context: &ToolContext, wait: Duration, title: &str) {
    if wait >= WORTH_TELLING {
        context.events.progress(None, format!("Waiting {} for {title}", in_words(wait)));
    }
}

/// A wait in whole seconds, never shorter than it is: `4 s`.
pub(super) fn in_words(wait: Duration) -> String {
    format!("{} s", wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}

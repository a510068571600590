//! Words for a wait.

use std::time::Duration;

use toolwire_base::clock;
use toolwire_tool::context::ToolContext;

/// Shorter waits are not worth an event.
const MIN_REPORTED: Duration = Duration::from_millis(500);

/// Reports to the caller that a call waits for a source.
pub(in crate::upstream) fn report(context: &ToolContext, wait: Duration, title: &str) {
    if wait >= MIN_REPORTED {
        context.events.progress(None, format!("Waiting {} for {title}", clock::wait_in_words(wait)));
    }
}

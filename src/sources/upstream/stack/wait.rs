//! Words for a wait.

use std::time::Duration;

use toolwire_base::clock;
use toolwire_tool::context::ToolContext;

/// Shorter waits are not worth an event.
const WORTH_TELLING: Duration = Duration::from_millis(500);

/// Tells the caller that a call waits for a source.
pub(in crate::upstream) fn tell(context: &ToolContext, wait: Duration, title: &str) {
    if wait >= WORTH_TELLING {
        context.events.progress(None, format!("Waiting {} for {title}", clock::wait_in_words(wait)));
    }
}

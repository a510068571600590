//! How long a call waits for a scrape: a little less than it could, so that the copy is still returned in time.

use std::time::Duration;

use tokio::time::Instant;

use toolwire_tool::context::{Cancellation, EventSink, ToolContext};

/// The most that is left for returning the copy.
const MAX_RESERVE: Duration = Duration::from_secs(2);

/// By when a call and its scrape have to end.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimeLimits {
    /// When it stops waiting.
    pub(super) wait_ends: Instant,
    /// When a scrape that it begins has ended: earlier, so that what was fetched by then is still seen.
    scrape_ends: Instant,
}

impl TimeLimits {
    pub(super) fn of(context: &ToolContext) -> Self {
        let reserve = (context.remaining() / 10).min(MAX_RESERVE);
        let ends = context.deadline.at();
        Self { wait_ends: ends - reserve / 2, scrape_ends: ends - reserve }
    }

    /// The context of a scrape that a call begins. Calls that join it may outlast the first: neither its cancellation
    /// nor its events are the scrape's.
    pub(super) fn of_scrape(self, context: &ToolContext, cancellation: Cancellation) -> ToolContext {
        ToolContext {
            deadline: context.deadline.no_later_than(self.scrape_ends),
            cancellation,
            events: EventSink::discarding(),
            ..context.clone()
        }
    }
}

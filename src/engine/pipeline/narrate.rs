//! Narrate: sends a reader progress events: what the call does, that it is still running, and a summary of its result.
//!
//! Only for the outermost call, and only if it has a reader. Not here: the words, which are the manifest's.

use std::{sync::Arc, task::Poll, time::Duration};

use futures_util::{
    future::{BoxFuture, Either},
    poll,
};
use serde_json::Value;
use tokio::{pin, select, time::sleep};

use super::{Call, CallResult, Inner};
use crate::registry::RegisteredTool;
use toolwire_base::middleware::Middleware;
use toolwire_contract::Terminal;
use toolwire_tool::context::EventSink;

/// Interval of progress events, shorter than the idle timers of common proxies.
const INTERVAL: Duration = Duration::from_secs(20);

/// The message for a tool without words of its own.
const ALIVE: &str = "Still working";

/// Adds progress events to calls that have a reader.
#[derive(Clone, Copy, Debug, Default)]
pub struct Narrate;

impl<S: Inner> Middleware<Box<Call>, S> for Narrate {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        if call.context.depth > 0 || !call.context.events.has_reader() {
            return Either::Left(inner.call(call));
        }
        let narrator = Narrator::new(&call);
        Either::Right(Box::pin(narrator.narrate(inner.call(call))))
    }
}

struct Narrator {
    events: EventSink,
    tool: Arc<RegisteredTool>,
    /// An object, or null if no template needs it.
    arguments: Value,
}

impl Narrator {
    fn new(call: &Call) -> Self {
        let tool = Arc::clone(call.tool());
        let arguments = if tool.narration.is_enabled() { call.arguments.clone().into() } else { Value::Null };
        Self { events: call.context.events.clone(), tool, arguments }
    }

    async fn narrate(self, work: impl Future<Output = CallResult>) -> CallResult {
        pin!(work);
        // A call that is ready at the first poll needs neither progress nor a timer.
        if let Poll::Ready(result) = poll!(&mut work) {
            self.send_summary(&result);
            return result;
        }
        let progress = self.tool.narration.progress(&self.arguments);
        if let Some(progress) = &progress {
            self.events.progress(None, progress);
        }
        let alive = progress.as_deref().unwrap_or(ALIVE);
        loop {
            select! {
                // No progress event after the work is ready: the summary is the last event.
                biased;
                result = &mut work => {
                    self.send_summary(&result);
                    return result;
                }
                () = sleep(INTERVAL) => self.events.progress(None, alive),
            }
        }
    }

    /// Sends the summary of a narrated tool, the last event before the result.
    fn send_summary(&self, result: &CallResult) {
        if !self.tool.narration.is_enabled() {
            return;
        }
        let Ok(Terminal::Result(result)) = result else { return };
        let Ok(data) = &result.outcome else { return };
        let RegisteredTool { definition, narration, .. } = &*self.tool;
        let summary =
            narration.summary(&definition.name, &definition.input_schema, &self.arguments, data.json());
        if let Some(summary) = summary {
            self.events.progress(None, summary);
        }
    }
}

//! Narrate: tells a reader what is done, that it still goes on, and what came out (spec 004 §8.3).
//!
//! Of the outermost call only, and nothing that nobody reads. Not here: the words, which are the manifest's.

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

/// A long call says that it is alive at least this often, so that no idle timer on the way cuts it.
const INTERVAL: Duration = Duration::from_secs(20);

/// What is said in between of a tool without words of its own.
const ALIVE: &str = "Still working";

/// Adds progress events to calls that somebody reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Narrate;

impl<S: Inner> Middleware<Call, S> for Narrate {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Call, inner: &mut S) -> Self::Future {
        if call.context.depth > 0 || !call.context.events.has_reader() {
            return Either::Left(inner.call(call));
        }
        let narrator = Narrator::of(&call);
        Either::Right(Box::pin(narrator.over(inner.call(call))))
    }
}

struct Narrator {
    events: EventSink,
    tool: Arc<RegisteredTool>,
    /// An object; null where no words depend on it.
    arguments: Value,
}

impl Narrator {
    fn of(call: &Call) -> Self {
        let tool = Arc::clone(call.tool());
        let arguments = if tool.narration.is_told() { call.arguments.clone().into() } else { Value::Null };
        Self { events: call.context.events.clone(), tool, arguments }
    }

    async fn over(self, work: impl Future<Output = CallResult>) -> CallResult {
        pin!(work);
        // What is ready at once needs no words on the way, and no timer.
        if let Poll::Ready(result) = poll!(&mut work) {
            self.sum_up(&result);
            return result;
        }
        let doing = self.doing();
        if let Some(doing) = &doing {
            self.events.progress(None, doing);
        }
        let alive = doing.as_deref().unwrap_or(ALIVE);
        loop {
            select! {
                biased;
                result = &mut work => {
                    self.sum_up(&result);
                    return result;
                }
                () = sleep(INTERVAL) => self.events.progress(None, alive),
            }
        }
    }

    fn doing(&self) -> Option<String> {
        self.tool.narration.progress(&self.arguments)
    }

    /// Sends the summary, which comes right before the result, of a tool that is told of.
    fn sum_up(&self, result: &CallResult) {
        if !self.tool.narration.is_told() {
            return;
        }
        let Ok(Terminal::Result(result)) = result else { return };
        let Ok(data) = &result.outcome else { return };
        let RegisteredTool { definition, narration, .. } = &*self.tool;
        let said =
            narration.summary(&definition.name, &definition.input_schema, &self.arguments, data.json());
        if let Some(said) = said {
            self.events.progress(None, said);
        }
    }
}

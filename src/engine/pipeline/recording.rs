//! Recording: what people who look at a call read of its arguments and its result, where the settings want it recorded.
//!
//! Calls that tools make are parts of others and are not recorded. Not here: how recordings are sealed and stored
//! (`recordings`), and the timelines of tasks (`record`).

use futures_util::future::{BoxFuture, Either};
use serde_json::Value;

use super::{Call, CallResult, Inner};
use crate::recordings::{CallData, Missing, Recorder};
use toolwire_base::middleware::Middleware;
use toolwire_config::RecordLevel;
use toolwire_contract::Terminal;

/// Passes calls on, and offers what is to be recorded of them when they end.
#[derive(Clone, Debug)]
pub struct RecordData(Recorder);

impl RecordData {
    pub fn new(recorder: Recorder) -> Self {
        Self(recorder)
    }
}

impl<S: Inner> Middleware<Box<Call>, S> for RecordData {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        let tool = call.tool();
        let level = if call.context.depth == 0 { self.0.level(&tool.definition) } else { RecordLevel::None };
        // Nearly all calls: nothing of them is copied.
        if level == RecordLevel::None {
            return Either::Left(inner.call(call));
        }
        // Before the layers below, which take the arguments.
        let (arguments, are_sensitive) = tool.input.shown(&call.arguments);
        let (user, call_id) = (call.context.user.id.clone(), call.context.call_id);
        let (tool, arguments) = (tool.definition.name.clone(), Value::Object(arguments).to_string());
        let (recorder, end) = (self.0.clone(), inner.call(call));
        Either::Right(Box::pin(async move {
            let end = end.await;
            let result = match &end {
                _ if level == RecordLevel::Arguments => Err(Missing::NotRecorded),
                // Whatever a tool answers or fails with may repeat what it was given.
                _ if are_sensitive => Err(Missing::MayBeSensitive),
                Ok(Terminal::Result(result)) => Ok(result.clone()),
                _ => Err(Missing::None),
            };
            recorder.offer(CallData { user, call_id, tool, arguments, result });
            end
        }))
    }
}

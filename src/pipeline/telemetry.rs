//! Telemetry: one structured log line a call, refusals included (spec 004 §8.1).
//!
//! The SERVER span is the face's, the `execute_tool` span is `execute`'s.

use std::{
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_util::future::BoxFuture;
use tonic::Code;
use tower::Service;

use super::{Arrived, Call, Facts};
use crate::{
    clock,
    context::{CallId, ToolContext, UserId},
    contract::{Refusal, Terminal, ToolError, status},
    telemetry,
};

/// Logs every call once, when it ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Layer;

/// See [`Layer`].
#[derive(Clone, Debug)]
pub struct Telemetry<S> {
    inner: S,
}

impl<S> tower::Layer<S> for Layer {
    type Service = Telemetry<S>;

    fn layer(&self, inner: S) -> Telemetry<S> {
        Telemetry { inner }
    }
}

impl<S> Service<Call> for Telemetry<S>
where
    S: Service<Call, Response = Terminal, Error = Refusal>,
    S::Future: Send + 'static,
{
    type Response = Terminal;
    type Error = Refusal;
    type Future = BoxFuture<'static, Result<Terminal, Refusal>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Refusal>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, call: Call) -> Self::Future {
        let line = Line::of(&call);
        let inner = self.inner.call(call);
        Box::pin(async move {
            let end = inner.await;
            line.log(&end);
            end
        })
    }
}

/// What the log line says of a call.
struct Line {
    user_id: UserId,
    call_id: CallId,
    parent_call_id: Option<CallId>,
    task_id: Option<String>,
    target: String,
    arrived: Arrived,
    facts: Arc<Facts>,
}

impl Line {
    fn of(call: &Call) -> Self {
        let ToolContext { user, call_id, parent_call_id, task_id, .. } = &call.context;
        Self {
            user_id: user.id.clone(),
            call_id: *call_id,
            parent_call_id: *parent_call_id,
            task_id: task_id.clone(),
            target: call.target.as_str().chars().take(64).collect(),
            arrived: call.arrived,
            facts: Arc::clone(&call.facts),
        }
    }

    fn log(&self, end: &Result<Terminal, Refusal>) {
        let tool_name = self.facts.tool().map_or(self.target.as_str(), |tool| &tool.definition.name);
        let error = error_of(end);
        tracing::info!(
            target: "toolwire::call",
            user_id = %self.user_id,
            tool_name,
            args = self.facts.arguments().unwrap_or("[redacted]"),
            duration_ms = milliseconds(clock::now() - self.arrived.at),
            success = error.is_none() && end.is_ok(),
            error_code = error,
            status = ?code_of(end),
            cache_hit = self.facts.is_cache_hit(),
            call_id = %self.call_id,
            parent_call_id = self.parent_call_id.map(tracing::field::display),
            task_id = self.task_id,
            trace_id = telemetry::current_trace_id(),
            "call"
        );
    }
}

fn error_of(end: &Result<Terminal, Refusal>) -> Option<&'static str> {
    match end {
        Ok(Terminal::Result(result)) => {
            result.outcome.as_ref().err().map(|error: &ToolError| error.code.name())
        }
        Ok(Terminal::ConfirmationRequired(_)) => None,
        Err(refusal) => Some(status::reason_of(refusal)),
    }
}

fn code_of(end: &Result<Terminal, Refusal>) -> Code {
    end.as_ref().err().map_or(Code::Ok, status::code_of_refusal)
}

fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

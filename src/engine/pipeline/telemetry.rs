//! Telemetry: one structured log line per call, refusals included, and its metrics.
//!
//! The SERVER span is the face's, the `execute_tool` span is `execute`'s.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use opentelemetry::trace::TraceId;
use pin_project_lite::pin_project;
use tonic::Code;

use super::{ArrivalTime, Call, CallResult, Facts, Inner};
use toolwire_base::{clock, middleware::Middleware};
use toolwire_contract::{Refusal, Terminal, ToolError, ToolName, status};
use toolwire_telemetry::{
    self as telemetry, attribute,
    metric::{self, InFlightGauge},
    milliseconds,
};
use toolwire_tool::context::{
    CallId, Cancellation, Grant, Ledger, LedgerRow, StopCause, TaskId, TaskLabel, ToolContext, UserId,
};

/// The error code in the log of a call that a person must approve first.
const CONFIRMATION_REQUIRED: &str = "CONFIRMATION_REQUIRED";

/// Maximum length of the name or intent of a call that has no tool, in characters.
const MAX_TARGET: usize = 64;

/// The most groups of a user that a line names; each has a bounded length.
const MAX_GROUPS: usize = 16;

/// Logs and counts each call when it ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Telemetry;

impl<S: Inner> Middleware<Box<Call>, S> for Telemetry {
    type Future = ResponseFuture<S::Future>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        let line = Some(Line::of(&call));
        ResponseFuture { inner: inner.call(call), line }
    }
}

pin_project! {
    /// The end of a call, which is logged.
    #[derive(Debug)]
    pub struct ResponseFuture<F> {
        #[pin]
        inner: F,
        line: Option<Line>,
    }
}

impl<F: Future<Output = CallResult>> Future for ResponseFuture<F> {
    type Output = CallResult;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<CallResult> {
        let this = self.project();
        let end = ready!(this.inner.poll(cx));
        if let Some(line) = this.line.take() {
            line.end(&end);
        }
        Poll::Ready(end)
    }
}

/// The fields of a call's log line. Logged on drop if the call has not ended: a nested call is dropped when the call
/// above it ends.
#[derive(Debug)]
struct Line {
    ended: bool,
    cancellation: Cancellation,
    /// The face that received the outermost call.
    face: &'static str,
    user_id: UserId,
    grant: Option<Arc<Grant>>,
    call_id: CallId,
    parent_call_id: Option<CallId>,
    task_id: Option<TaskLabel>,
    target: String,
    arrived: ArrivalTime,
    trace_id: Option<TraceId>,
    facts: Arc<Facts>,
    ledger: Option<Ledger>,
    _in_flight: InFlightGauge,
}

impl Line {
    fn of(call: &Call) -> Self {
        let ToolContext { user, call_id, parent_call_id, task_id, trace_id, cancellation, origin, .. } =
            &call.context;
        Self {
            ended: false,
            cancellation: cancellation.clone(),
            face: origin.face,
            user_id: user.id.clone(),
            grant: user.grant.clone(),
            call_id: *call_id,
            parent_call_id: *parent_call_id,
            task_id: task_id.clone(),
            target: shorten(call.target.as_str()),
            arrived: call.arrived,
            trace_id: *trace_id,
            facts: Arc::clone(&call.facts),
            ledger: call.context.ledger.clone(),
            _in_flight: InFlightGauge::begin(),
        }
    }

    fn end(mut self, end: &Result<Terminal, Refusal>) {
        self.ended = true;
        self.emit(end);
    }

    /// Records the metrics and the ledger's row, and writes the log line.
    fn emit(&self, end: &Result<Terminal, Refusal>) {
        let tool = self.facts.tool().map(|tool| tool.definition.name.as_str());
        let error = error_of(end);
        let duration = clock::now() - self.arrived.at;
        metric::call_ended(tool, error.unwrap_or(metric::name::OK), duration);
        if let Some(ledger) = &self.ledger {
            ledger.note(self.row(end, duration));
        }
        let trace_id = telemetry::current_trace_id().or(self.trace_id);
        let label = self.task_id.as_ref();
        let task_id = label.and_then(TaskLabel::task);
        let task_digest = label.filter(|_| task_id.is_none()).map(TaskLabel::digest);
        tracing::info!(
            target: "toolwire::call",
            user_id = %self.user_id,
            tool_name = tool.unwrap_or_else(|| self.unknown_tool()),
            args = self.facts.arguments().unwrap_or("[redacted]"),
            duration_ms = milliseconds(duration),
            success = error.is_none() && end.is_ok(),
            error_code = error,
            status = status::name(code_of(end)),
            user_groups = self.groups_of_refused(end),
            cache_hit = self.facts.is_cache_hit(),
            face = self.face,
            call_id = %self.call_id,
            parent_call_id = self.parent_call_id.map(tracing::field::display),
            task_id = task_id.as_ref().map(TaskId::as_str),
            task_digest = task_digest.map(tracing::field::display),
            trace_id = trace_id.map(tracing::field::display),
            "call"
        );
    }

    /// The groups by which no rule allows the call, if the user's credentials name groups.
    fn groups_of_refused(&self, end: &Result<Terminal, Refusal>) -> Option<String> {
        let Err(Refusal::PermissionDenied { .. }) = end else { return None };
        let groups = &self.grant.as_ref()?.groups;
        let shown = groups.iter().take(MAX_GROUPS).map(String::as_str).collect::<Vec<_>>().join(" ");
        match groups.len().saturating_sub(MAX_GROUPS) {
            _ if groups.is_empty() => Some("none".to_owned()),
            0 => Some(shown),
            more => Some(format!("{shown} and {more} more")),
        }
    }

    /// The target of a call without a tool, if it is a valid tool name. Any other text may contain data of the caller
    /// and is not logged.
    fn unknown_tool(&self) -> &str {
        if self.target.parse::<ToolName>().is_ok() { &self.target } else { attribute::OTHER }
    }

    fn row(&self, end: &Result<Terminal, Refusal>, duration: Duration) -> LedgerRow {
        let definition = self.facts.tool().map(|tool| &tool.definition);
        let name = definition.map_or(self.target.as_str(), |it| it.name.as_str());
        let intent = definition.and_then(|it| it.intents.first());
        let source_ids = match end {
            Ok(Terminal::Result(result)) => result.provenance.source_ids.clone(),
            Ok(Terminal::ConfirmationRequired(_)) | Err(_) => Vec::new(),
        };
        LedgerRow {
            tool: name.to_owned(),
            component: intent.map_or(name, String::as_str).to_owned(),
            arguments: self.facts.arguments().or_else(|| self.facts.names()).map(ToOwned::to_owned),
            took: duration,
            source_ids,
            error: error_of(end),
            cache_hit: self.facts.is_cache_hit(),
            call_id: self.call_id,
            parent_call_id: self.parent_call_id,
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        let refusal = match self.cancellation.cause() {
            // A panic in a layer below: the caller gets INTERNAL.
            _ if std::thread::panicking() => Refusal::Internal { call_id: self.call_id.to_string() },
            Some(StopCause::Deadline) => Refusal::DeadlineExceeded,
            Some(StopCause::Shutdown) => Refusal::ShuttingDown,
            Some(StopCause::Timeout | StopCause::Cancelled | StopCause::CallerGone) | None => {
                Refusal::CallerGone
            }
        };
        self.emit(&Err(refusal));
    }
}

fn shorten(target: &str) -> String {
    match target.len() {
        ..=MAX_TARGET => target.to_owned(),
        _ => target.chars().take(MAX_TARGET).collect(),
    }
}

fn error_of(end: &Result<Terminal, Refusal>) -> Option<&'static str> {
    match end {
        Ok(Terminal::Result(result)) => {
            result.outcome.as_ref().err().map(|error: &ToolError| error.code.into_str())
        }
        Ok(Terminal::ConfirmationRequired(_)) => Some(CONFIRMATION_REQUIRED),
        Err(refusal) => Some(status::reason_of(refusal)),
    }
}

fn code_of(end: &Result<Terminal, Refusal>) -> Code {
    end.as_ref().err().map_or(Code::Ok, status::code_of_refusal)
}

#[cfg(test)]
mod tests {
    use std::{
        future::pending,
        sync::atomic::{AtomicUsize, Ordering},
    };

    use futures_util::FutureExt;
    use tower::{Layer as _, Service as _, service_fn};
    use tracing::{Event, Metadata, Subscriber};
    use tracing_subscriber::{layer, layer::SubscriberExt};

    use super::*;
    use crate::pipeline::Target;
    use toolwire_base::middleware::Layer;
    use toolwire_contract::arguments::Arguments;
    use toolwire_tool::context::User;

    /// Counts the lines of calls.
    struct Lines(Arc<AtomicUsize>);

    impl<S: Subscriber> layer::Layer<S> for Lines {
        fn on_event(&self, event: &Event<'_>, _context: layer::Context<'_, S>) {
            let metadata: &Metadata<'_> = event.metadata();
            if metadata.target() == "toolwire::call" {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    #[tokio::test]
    async fn a_call_has_one_line_whether_it_ends_or_is_dropped() {
        let lines = Arc::new(AtomicUsize::new(0));
        let subscriber = tracing_subscriber::registry().with(Lines(Arc::clone(&lines)));
        let _subscriber = toolwire_base::capture::capture(subscriber);
        let user = User::new("demo".parse().expect("valid"));
        let context = ToolContext::new(user, clock::now() + Duration::from_secs(1));
        let call = Box::new(Call::new(context, Target::Tool("x".to_owned()), Ok(Arguments::new())));

        let gone = |_| async { Err(Refusal::CallerGone) };
        assert!(Layer(Telemetry).layer(service_fn(gone)).call(call.clone()).await.is_err());
        assert_eq!(lines.load(Ordering::Relaxed), 1);

        let dropped = Layer(Telemetry).layer(service_fn(|_| pending())).call(call);
        assert!(dropped.now_or_never().is_none());
        assert_eq!(lines.load(Ordering::Relaxed), 2);
    }
}

//! Execute: the tool itself, within the manifest's time-out, behind a panic guard.
//!
//! Never fails: every failure of a tool becomes a result.

use std::{
    mem,
    panic::AssertUnwindSafe,
    sync::Arc,
    task::{Context, Poll},
};

use futures_util::{FutureExt, future::BoxFuture, poll};
use tokio::{
    pin, select,
    time::{Instant, sleep_until},
};
use tower::Service;
use tracing::Instrument;

use super::{Call, InFlight, Orchestrate, Stage, orchestrate::carry_out, span};
use crate::registry::Category;
use toolwire_base::{clock, offload};
use toolwire_contract::{
    ErrorCode, Origin, Payload, Provenance, Refusal, Terminal, ToolError, arguments::Arguments,
};
use toolwire_sources::upstream::http::{requests_made, warnings};
use toolwire_tool::{
    Executor, Reply,
    context::{StopCause, Unfinished},
};

/// Clients refuse messages over 4 MiB by default; a result with its envelope must stay below.
pub const MAX_RESULT_BYTES: usize = 3 * 1024 * 1024;

/// An output message up to this size cannot exceed the limit in any rendering, so it is not rendered to be measured.
const SURELY_SMALL: usize = MAX_RESULT_BYTES / 96;

/// Executes calls: the innermost service.
#[derive(Clone, Debug)]
pub struct Execute {
    orchestrate: Arc<dyn Orchestrate>,
    in_flight: InFlight,
}

impl Execute {
    /// Tools without code are carried out by `orchestrate`, which may cancel calls listed in `in_flight`.
    pub fn new(orchestrate: Arc<dyn Orchestrate>, in_flight: InFlight) -> Self {
        Self { orchestrate, in_flight }
    }
}

impl Service<Box<Call>> for Execute {
    type Response = Terminal;
    type Error = Refusal;
    type Future = BoxFuture<'static, Result<Terminal, Refusal>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Refusal>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut call: Box<Call>) -> Self::Future {
        let (orchestrate, in_flight) = (Arc::clone(&self.orchestrate), self.in_flight.clone());
        Box::pin(async move {
            let span = span::execute_tool(&call);
            let now = clock::now();
            call.facts.note_at(Stage::Executing, now);
            let invocation = Invocation::prepare(&mut call, now);
            // Dropped with this future: an execution that is cut is recorded too.
            let recorder = span::ExecutionRecorder::new(&span, &call);
            let terminal = match invocation {
                Some(invocation) => conclude(&call, run(&call, invocation).instrument(span).await),
                None => carry_out(&*orchestrate, &in_flight, &call).instrument(span).await?,
            };
            recorder.finish(&terminal);
            Ok(terminal)
        })
    }
}

/// The input of an execution.
struct Invocation {
    arguments: Arguments,
    /// The instant of the manifest's time-out, if it comes before the deadline.
    times_out_at: Option<Instant>,
}

impl Invocation {
    /// Prepares a call: narrows its context to what the tool may see, and takes its arguments. `None` for a tool
    /// without code.
    fn prepare(call: &mut Call, now: Instant) -> Option<Self> {
        if !call.tool().definition.kind.behaviour().executes {
            return None;
        }
        let times_out_at = now + call.tool().definition.timeout;
        // A write that has started is never dropped at its time-out: `idempotency` bounds the wait for it and the work.
        let times_out_at = Some(times_out_at).filter(|at| !call.writes() && *at < call.context.deadline.at());
        let services = call.context.services.only(&executor(call).services());
        let tool = call.tool().definition.name.clone();
        let mut arguments = mem::take(&mut call.arguments);
        call.tool().input.fill_ids(&mut arguments, &call.context, call.request_id);
        let context = &mut call.context;
        if let Some(at) = times_out_at {
            context.deadline = context.deadline.no_later_than(at);
        }
        // A child, so that the time-out below cancels the work and not the call, which still has its result to return.
        context.cancellation = context.cancellation.child();
        context.services = services;
        context.tool = Some(tool);
        Some(Self { arguments, times_out_at })
    }
}

fn default_provenance(call: &Call) -> Provenance {
    Provenance::of(format!("tool:{}:v1", call.tool().definition.name), "")
}

fn conclude(call: &Call, reply: Result<Reply<Payload>, Unfinished>) -> Terminal {
    match reply {
        Ok(Reply { data, mut provenance }) => {
            // Every success can be cited, even if the tool names no source.
            if provenance.source_ids.is_empty() {
                provenance.source_ids = default_provenance(call).source_ids;
            }
            provenance.warnings.extend(warnings(&call.context));
            // A tool may have a cache of its own. What a composite has from one came by the calls that it made.
            if provenance.cached_for.is_some() && call.tool().definition.depends_on.is_empty() {
                call.facts.mark_cache_hit();
            }
            let data = call.render(data);
            // The result of a nested call stays in the process and need not fit a client's message.
            match (call.context.depth == 0).then(|| size_error(&data)).flatten() {
                None => call.result(Ok(data), provenance),
                Some(error) if call.writes() => call.failed(add_that_it_was_done(error)),
                Some(error) => call.failed(error),
            }
        }
        Err(Unfinished::Failed(error)) => call.failed(error),
        Err(Unfinished::AwaitsConfirmation(confirmation)) => Terminal::ConfirmationRequired(confirmation),
    }
}

/// Without it the caller might write again, under a new `request_id`.
fn add_that_it_was_done(error: ToolError) -> ToolError {
    ToolError { message: format!("The write was done. {}", error.message), ..error }
}

async fn run(call: &Call, invocation: Invocation) -> Result<Reply<Payload>, Unfinished> {
    let work = catch_panic(call, invocation.arguments);
    pin!(work);
    // Most reads are ready at the first poll and need no timer.
    if let Poll::Ready(reply) = poll!(&mut work) {
        return reply;
    }
    let Some(times_out_at) = invocation.times_out_at else { return work.await };
    select! {
        // The time-out wins a tie, as the deadline does.
        biased;
        () = sleep_until(times_out_at) => {
            call.context.cancellation.cancel(StopCause::Timeout);
            Err(timeout_error(call).into())
        }
        reply = &mut work => reply,
    }
}

/// Runs the tool; a panic fails this call only.
async fn catch_panic(call: &Call, arguments: Arguments) -> Result<Reply<Payload>, Unfinished> {
    let user = call.context.user.id.shared();
    let work = offload::on_behalf(user, async { executor(call).execute(arguments, &call.context).await });
    let work = AssertUnwindSafe(work);
    match work.catch_unwind().await {
        Ok(reply) => reply,
        Err(_) => Err(panic_error(call).into()),
    }
}

fn executor(call: &Call) -> &dyn Executor {
    call.tool().executor.as_deref().expect("start-up refuses a function tool without one")
}

fn panic_error(call: &Call) -> ToolError {
    let tool = &call.tool().definition;
    tracing::error!(tool_name = %tool.name, call_id = %call.context.call_id, "tool panicked");
    let code = match tool.category {
        Category::Read => ErrorCode::Unknown,
        _ => ErrorCode::OutcomeUnknown,
    };
    let message =
        format!("{} failed unexpectedly; quote call_id {} to the operator", tool.name, call.context.call_id);
    ToolError { retryable: false, ..ToolError::new(code, message) }.with_origin(Origin::Tool)
}

/// The error of an execution that exceeded the manifest's time-out.
pub(super) fn timeout_error(call: &Call) -> ToolError {
    let tool = &call.tool().definition;
    let message = format!(
        "{} did not finish within its time-out of {}",
        tool.name,
        clock::exact_in_words(tool.timeout)
    );
    let attempts = requests_made(&call.context);
    ToolError { attempts, ..ToolError::new(ErrorCode::Timeout, message) }
}

/// The error if the data exceeds [`MAX_RESULT_BYTES`] as JSON text or as a structure.
pub(super) fn size_error(data: &Payload) -> Option<ToolError> {
    if data.encoded_len() <= SURELY_SMALL {
        return None;
    }
    let size = data.largest_len();
    (size > MAX_RESULT_BYTES).then(|| {
        let message = format!(
            "The result is {size} bytes, over the limit of {MAX_RESULT_BYTES}. Narrow the arguments."
        );
        ToolError::new(ErrorCode::ResultTooLarge, message)
    })
}

//! Execute: the tool itself, within the manifest's time-out, behind a panic guard.
//!
//! Never throws: whatever a tool does becomes a result (spec 001).

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

use super::{Call, InFlight, Orchestrate, orchestrate::carry_out, span};
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

/// A client stops reading a message at 4 MiB; a result with its envelope must stay below.
pub const MAX_RESULT_BYTES: usize = 3 * 1024 * 1024;

/// Smaller output messages cannot exceed the limit in any form.
const SURELY_SMALL: usize = MAX_RESULT_BYTES / 96;

/// Executes calls. The innermost service.
#[derive(Clone, Debug)]
pub struct Execute {
    orchestrate: Arc<dyn Orchestrate>,
    in_flight: InFlight,
}

impl Execute {
    /// Carries out there what executes nothing; what that stops is running in the given list.
    pub fn new(orchestrate: Arc<dyn Orchestrate>, in_flight: InFlight) -> Self {
        Self { orchestrate, in_flight }
    }
}

impl Service<Call> for Execute {
    type Response = Terminal;
    type Error = Refusal;
    type Future = BoxFuture<'static, Result<Terminal, Refusal>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Refusal>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut call: Call) -> Self::Future {
        let (orchestrate, in_flight) = (Arc::clone(&self.orchestrate), self.in_flight.clone());
        Box::pin(async move {
            let span = span::execute_tool(&call);
            let work = Work::begin(&mut call);
            let ended = span::Ended::new(&span, &call);
            let terminal = match work {
                Some(work) => conclude(&call, run(&call, work).instrument(span).await),
                None => carry_out(&*orchestrate, &in_flight, &call).instrument(span).await?,
            };
            ended.with(&terminal);
            Ok(terminal)
        })
    }
}

/// What is left to be done when a call has been made ready for its tool.
struct Work {
    arguments: Arguments,
    /// The manifest's time-out, where it comes first.
    limit: Option<Instant>,
}

impl Work {
    /// Makes a call ready: from here on its context is the tool's, and its arguments are here. None for what executes
    /// nothing.
    fn begin(call: &mut Call) -> Option<Self> {
        if !call.tool().definition.kind.behaviour().executes {
            return None;
        }
        let limit = clock::now() + call.tool().definition.timeout;
        // A write that has started is never cut: `idempotency` bounds the wait for it, and its work.
        let limit = Some(limit).filter(|limit| !call.writes() && *limit < call.context.deadline.at());
        let services = call.context.services.only(&executor(call).services());
        let tool = call.tool().definition.name.clone();
        let context = &mut call.context;
        if let Some(limit) = limit {
            context.deadline = context.deadline.no_later_than(limit);
        }
        context.cancellation = context.cancellation.child();
        context.services = services;
        context.tool = Some(tool);
        Some(Self { arguments: mem::take(&mut call.arguments), limit })
    }
}

fn recorded(call: &Call) -> Provenance {
    Provenance::of(format!("tool:{}:v1", call.tool().definition.name), "")
}

fn conclude(call: &Call, reply: Result<Reply<Payload>, Unfinished>) -> Terminal {
    match reply {
        Ok(Reply { data, mut provenance }) => {
            // Every success can be cited, whatever the tool forgot.
            if provenance.source_ids.is_empty() {
                provenance.source_ids = recorded(call).source_ids;
            }
            provenance.warnings.extend(warnings(&call.context));
            let data = call.render(data);
            // What stays in the process need not fit a client.
            match (call.context.depth == 0).then(|| size_error(&data)).flatten() {
                None => call.result(Ok(data), provenance),
                Some(error) => call.failed(error),
            }
        }
        Err(Unfinished::Failed(error)) => call.failed(error),
        Err(Unfinished::AwaitsConfirmation(confirmation)) => Terminal::ConfirmationRequired(confirmation),
    }
}

async fn run(call: &Call, Work { arguments, limit }: Work) -> Result<Reply<Payload>, Unfinished> {
    let work = guarded(call, arguments);
    pin!(work);
    // Most reads end here, without a timer. Work that never waits is not cut.
    if let Poll::Ready(reply) = poll!(&mut work) {
        return reply;
    }
    let Some(limit) = limit else { return work.await };
    select! {
        biased;
        () = sleep_until(limit) => {
            call.context.cancellation.cancel(StopCause::Timeout);
            Err(super::timed_out(call).into())
        }
        reply = &mut work => reply,
    }
}

/// The tool's work; a panic in it is a failure of this call and of nothing else.
async fn guarded(call: &Call, arguments: Arguments) -> Result<Reply<Payload>, Unfinished> {
    let user = call.context.user.id.shared();
    let work = offload::on_behalf(user, async { executor(call).execute(arguments, &call.context).await });
    let work = AssertUnwindSafe(work);
    match work.catch_unwind().await {
        Ok(reply) => reply,
        Err(_) => Err(panicked(call).into()),
    }
}

fn executor(call: &Call) -> &dyn Executor {
    call.tool().executor.as_deref().expect("start-up refuses a function tool without one")
}

fn panicked(call: &Call) -> ToolError {
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

/// The manifest's time-out passed.
pub(super) fn timed_out(call: &Call) -> ToolError {
    let tool = &call.tool().definition;
    let message = format!(
        "{} did not finish within its time-out of {}",
        tool.name,
        clock::exact_in_words(tool.timeout)
    );
    let attempts = requests_made(&call.context);
    ToolError { attempts, ..ToolError::new(ErrorCode::Timeout, message) }
}

/// Why a client would not accept the data, if so.
pub(super) fn size_error(data: &Payload) -> Option<ToolError> {
    if data.encoded_len() <= SURELY_SMALL {
        return None;
    }
    let size = data.json_text().len().max(prost::Message::encoded_len(&data.to_struct()));
    (size > MAX_RESULT_BYTES).then(|| {
        let message = format!(
            "The result is {size} bytes, over the limit of {MAX_RESULT_BYTES}. Narrow the arguments."
        );
        ToolError::new(ErrorCode::ResultTooLarge, message)
    })
}

//! The context of a call: its user, deadline and task.
//!
//! The context of a call for every layer, tool and source, the same for every face. The wire form is
//! `toolwire.v1.ToolContext`; in process the context adds cancellation, credentials, events, services and the way to
//! call other tools.

mod attributes;
mod backpressure;
mod bearer_token;
mod cancellation;
mod client_name;
mod deadline;
mod events;
mod execution_error;
mod ids;
mod ledger;
mod lineage;
mod origin;
mod pins;
mod reader;
mod refusal_log;
mod request_log;
mod required_services;
mod services;
mod source_states;
mod subscribers;
mod toolset_name;
mod user;

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use futures_util::future::BoxFuture;
use opentelemetry::trace::TraceId;
use tokio::time::Instant;

pub use attributes::{Attributes, TooManyAttributes};
pub use backpressure::{EventBackpressure, UnreadBounds};
pub use bearer_token::BearerToken;
pub use cancellation::{Cancellation, StopCause};
pub use client_name::ClientName;
pub use deadline::Deadline;
pub use events::EventSink;
pub use execution_error::Unfinished;
pub use ids::{CallId, InvalidId, RequestId, SessionId, TaskId, TaskLabel, UserId};
pub use ledger::{Ledger, LedgerRow};
pub use lineage::{Lineage, Outermost};
pub use origin::Origin;
pub use pins::Pins;
pub use reader::Events;
pub use refusal_log::{RefusalLog, RefusedRequest};
pub use request_log::RequestLog;
pub use required_services::Required;
pub use services::Services;
pub use source_states::SourceStates;
pub use subscribers::Subscribers;
pub use toolset_name::{InvalidToolsetName, ToolsetName};
pub use user::{Acceptance, Grant, KnownBy, User};

use toolwire_contract::{ErrorCode, Payload, Provenance, ToolError, ToolName, arguments::Arguments};

/// The context of one call. Cloning it makes another view of the same call.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The authenticated user.
    pub user: User,
    /// Where the call from outside came from.
    pub origin: Origin,
    /// What the program says it is that made the call from outside.
    pub client: Option<ClientName>,
    /// Differs from call to call, repeats included.
    pub call_id: CallId,
    /// The call that made this one.
    pub parent_call_id: Option<CallId>,
    /// Number of calls above this one.
    pub depth: usize,
    /// Names the calls that this one makes, the same in every repeat of it.
    pub lineage: Lineage,
    /// The tool that is executed. `None` until then.
    pub tool: Option<ToolName>,
    /// The task on whose behalf the tool is called, as the caller names it.
    pub task_id: Option<TaskLabel>,
    /// Whether the task has read untrusted text, so that the calls of its agent may be injected.
    pub tainted: bool,
    /// The caller's session.
    pub session_id: Option<SessionId>,
    /// The trace that the caller's `traceparent` names, which its log line names too.
    pub trace_id: Option<TraceId>,
    /// Values for tools that read them; never a source of identity or consent.
    pub attributes: Attributes,
    /// The instant by which the work has ended, whatever happens.
    pub deadline: Deadline,
    /// Signals that the work should stop, and why.
    pub cancellation: Cancellation,
    /// Takes progress and chunks.
    pub events: EventSink,
    /// The token that the caller presented, if there was one. Never serialised, never logged.
    pub credentials: Option<BearerToken>,
    /// What tools need beyond this: one value a type, of which a tool sees those that it declares.
    pub services: Services,
    /// The state that this call and its nested calls see, fixed at first use.
    pub pins: Pins,
    /// Records this call and its nested calls, where a trace of them is shown.
    pub ledger: Option<Ledger>,
    /// Notes requests to sources and providers, if the call shows them.
    pub requests: Option<Arc<dyn RequestLog>>,
    /// Calls other tools through the pipeline.
    pub caller: Arc<dyn CallTools>,
}

/// Calls tools through the pipeline.
pub trait CallTools: Send + Sync + std::fmt::Debug {
    /// Calls a tool on behalf of the call of the given context.
    fn call_tool<'a>(
        &'a self,
        parent: &'a ToolContext,
        tool: &'a str,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<(Payload, Provenance), Unfinished>>;
}

/// Calls nothing: for contexts outside a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct NoNestedCalls;

/// The one value: each call begins with it.
static NO_NESTED_CALLS: LazyLock<Arc<NoNestedCalls>> = LazyLock::new(|| Arc::new(NoNestedCalls));

impl ToolContext {
    /// A context for the given user and nothing else: no events, no services, no nested calls.
    pub fn new(user: User, deadline: Instant) -> Self {
        let call_id = CallId::generate();
        Self {
            user,
            origin: Origin::PROCESS,
            client: None,
            call_id,
            parent_call_id: None,
            depth: 0,
            lineage: Lineage::of(call_id),
            tool: None,
            task_id: None,
            tainted: false,
            session_id: None,
            trace_id: None,
            attributes: Attributes::default(),
            deadline: Deadline::new(deadline),
            cancellation: Cancellation::new(),
            events: EventSink::discarding(),
            credentials: None,
            services: Services::default(),
            pins: Pins::default(),
            ledger: None,
            requests: None,
            caller: Arc::clone(&NO_NESTED_CALLS) as _,
        }
    }

    /// The task that the call belongs to, if it is one of this server's.
    pub fn task(&self) -> Option<TaskId> {
        self.task_id.as_ref().and_then(TaskLabel::task)
    }

    /// Notes that a request to a source, or to another process that executes the tool, goes out now.
    pub fn note_request(&self) {
        if let Some(requests) = &self.requests {
            requests.note_request();
        }
    }

    /// Notes the instance of a host that the request went to.
    pub fn note_instance(&self, instance: Arc<str>) {
        if let Some(requests) = &self.requests {
            requests.note_instance(instance);
        }
    }

    /// The time left until the work must have ended.
    pub fn remaining(&self) -> Duration {
        self.deadline.remaining()
    }

    /// The context of a call that this one makes: same user, task and pins, an identity of its own, and of its events
    /// progress alone for the caller's reader. Its lineage and its services are for the pipeline to set.
    pub fn nested(&self) -> Self {
        Self {
            call_id: CallId::generate(),
            parent_call_id: Some(self.call_id),
            depth: self.depth + 1,
            cancellation: self.cancellation.child(),
            events: self.events.nested(),
            ..self.clone()
        }
    }
}

impl CallTools for NoNestedCalls {
    fn call_tool<'a>(
        &'a self,
        _parent: &'a ToolContext,
        tool: &'a str,
        _arguments: Arguments,
    ) -> BoxFuture<'a, Result<(Payload, Provenance), Unfinished>> {
        let message = format!(
            "{tool} cannot be called: calls of other tools go through the pipeline, and this context has none"
        );
        Box::pin(async { Err(ToolError::new(ErrorCode::Unavailable, message).into()) })
    }
}

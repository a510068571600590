//! A call as the layers pass it on.

mod arguments_form;
mod delivery;
mod facts;
mod permits;
mod stages;

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::time::Instant;
use tower::Service;

pub(super) use self::delivery::{Delivered, Delivery, key};
pub use self::{
    arguments_form::ArgumentsForm,
    facts::{Facts, RecordedMistake},
    permits::Permits,
    stages::{Stage, Stages},
};
use crate::registry::{Category, RegisteredTool};
use toolwire_base::{backlog, clock, digest::Digest};
use toolwire_contract::{
    ConfirmationCause, Event, Outcome, Payload, Provenance, Refusal, Terminal, ToolError, ToolName,
    ToolResult,
    arguments::{Arguments, Unreadable},
};
use toolwire_state::tasks::StepRef;
use toolwire_tool::context::{RequestId, ToolContext};

pub type CallResult = Result<Terminal, Refusal>;

/// The bounds on the rest of the pipeline below a layer.
pub(super) trait Inner:
    Service<Box<Call>, Response = Terminal, Error = Refusal, Future: Send + 'static>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Inner for S where
    S: Service<Box<Call>, Response = Terminal, Error = Refusal, Future: Send + 'static>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// A request for a tool, the same from every face.
#[derive(Clone, Debug)]
pub struct Call {
    /// The user, the deadline, and the task on whose behalf the call is made.
    pub context: ToolContext,
    pub target: Target,
    /// The arguments as the caller wrote them; below `validate`, checked, normalized and with defaults.
    pub arguments: Arguments,
    /// The form in which the caller gave the arguments. `validate` reports errors accordingly.
    pub given: ArgumentsForm,
    pub request_id: Option<RequestId>,
    /// Options of the call. `None` for nearly all calls.
    pub options: Option<Box<CallOptions>>,
    /// The step of a task's agent that made the call. `record` fills it in; `None` for a call that is in no timeline.
    pub step_ref: Option<Box<StepRef>>,
    /// The tools that the caller's agent was offered; all others are unknown to it. `None`: all of the user's.
    pub offered: Option<Arc<BTreeSet<ToolName>>>,
    /// The reason why a person must approve it first. Set by `confirm`; faces leave it empty.
    pub cause: Option<ConfirmationCause>,
    /// Its permits among the calls that its user may make at once. Set by `quota`; faces leave it empty.
    pub permits: Option<Arc<Permits>>,
    pub arrived: ArrivalTime,
    /// The backlog of the peer that reads its events. `None` for a reader in this process.
    pub backlog: Option<backlog::Stream>,
    /// Facts that the layers have established so far.
    pub facts: Arc<Facts>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// The digest of the definition that the call is bound to.
    pub expected_digest: Option<Digest>,
    /// Maximum time to wait for a person's decision.
    pub wait_for_confirmation: Option<Duration>,
    /// Whether a person must approve the call even if its definition does not require it.
    pub require_confirmation: bool,
    /// Data of more tokens than this is kept for reading on.
    pub keep_over_tokens: Option<u64>,
    /// Whether an equal write whose outcome was not delivered lends the call its `request_id`.
    pub resume_equal_write: bool,
    /// Whether the outcome of such a write is delivered by a later query of the call, and not to the reader of its
    /// events.
    pub deliver_by_get_call: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Tool(String),
    /// An intent, which routes to a tool.
    Intent(String),
}

/// The arrival of a call, on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct ArrivalTime {
    pub at: Instant,
    pub wall: SystemTime,
}

impl ArrivalTime {
    /// Reads both clocks, one after the other.
    pub fn now() -> Self {
        Self { at: clock::now(), wall: clock::wall() }
    }

    /// The wall-clock time of a later instant, the same whenever it is asked for.
    pub fn wall_at(self, instant: Instant) -> SystemTime {
        self.wall + instant.saturating_duration_since(self.at)
    }
}

impl CallOptions {
    /// `None` if every option has its default.
    pub fn if_any(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}

impl Target {
    /// The name or intent as the caller wrote it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Tool(text) | Self::Intent(text) => text,
        }
    }
}

impl Call {
    /// A call with the arguments that its caller wrote, readable or not.
    pub fn new(context: ToolContext, target: Target, arguments: Result<Arguments, Unreadable>) -> Self {
        Self::new_at(ArrivalTime::now(), context, target, arguments)
    }

    /// A call that arrived at the given time.
    pub fn new_at(
        arrived: ArrivalTime,
        context: ToolContext,
        target: Target,
        arguments: Result<Arguments, Unreadable>,
    ) -> Self {
        let (arguments, given) = ArgumentsForm::of(arguments);
        Self {
            context,
            target,
            arguments,
            given,
            request_id: None,
            options: None,
            step_ref: None,
            offered: None,
            cause: None,
            permits: None,
            arrived,
            backlog: None,
            facts: Arc::default(),
        }
    }

    /// Begins to note the stages of the call, and the requests that it makes.
    pub(super) fn begin_stages(&mut self) {
        self.facts.begin_stages(self.arrived.at);
        self.facts.note(Stage::Checking);
        self.context.requests = Some(Arc::clone(&self.facts) as _);
    }

    /// Whether the caller's agent was offered a tool of this name.
    pub(super) fn offers(&self, tool: &str) -> bool {
        self.offered.as_ref().is_none_or(|offered| offered.contains(tool))
    }

    /// # Panics
    /// Above `authorize`, which passes only resolved calls on.
    pub fn tool(&self) -> &Arc<RegisteredTool> {
        self.facts.tool().expect("authorize passes only resolved calls on")
    }

    /// Whether the tool is anything but a read.
    pub(super) fn writes(&self) -> bool {
        self.tool().definition.category != Category::Read
    }

    /// Whether it runs at most once. An approved call does, even a read: without a record it does not run.
    pub(super) fn runs_once(&self) -> bool {
        self.writes() || self.cause.is_some()
    }

    /// Sends the `accepted` event, the first event of every call: the call is valid and begins.
    pub(super) fn accept(&mut self) {
        let tool = Arc::clone(self.tool());
        let deadline = self.arrived.wall_at(self.context.deadline.at());
        self.context.events.accepted(|| Event::Accepted {
            tool: tool.definition.name.clone(),
            digest: tool.definition.digest,
            deadline,
        });
    }

    pub fn result(&self, outcome: Outcome, provenance: Provenance) -> Terminal {
        Terminal::Result(ToolResult {
            tool: self.tool().definition.name.clone(),
            fetched_at: self.arrived.wall,
            outcome,
            provenance,
            kept: None,
        })
    }

    /// Renders the tool's data as its manifest specifies.
    pub(super) fn render(&self, data: Payload) -> Payload {
        match &self.tool().renderer {
            Some(renderer) => data.with_renderer(renderer),
            None => data,
        }
    }

    /// A failed result of this call.
    pub fn failed(&self, error: ToolError) -> Terminal {
        self.result(Err(error), Provenance::default())
    }

    /// The end of an equal call, as the end of this one.
    pub(super) fn adopt(&self, terminal: Terminal) -> Terminal {
        match terminal {
            Terminal::Result(result) => {
                Terminal::Result(ToolResult { fetched_at: self.arrived.wall, ..result })
            }
            other @ Terminal::ConfirmationRequired(_) => other,
        }
    }

    /// The refusal for a fault of the server; its cause is in the log under the call's id.
    pub(super) fn internal(&self) -> Refusal {
        Refusal::Internal { call_id: self.context.call_id.to_string() }
    }
}

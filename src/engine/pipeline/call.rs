//! A call on its way through the pipeline.

mod facts;
mod given;

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::time::Instant;
use tower::Service;

pub use self::{
    facts::{Facts, NotedMistake},
    given::Given,
};
use crate::registry::{Category, RegisteredTool};
use toolwire_base::{clock, digest::Digest};
use toolwire_contract::{
    ConfirmationCause, Event, Outcome, Payload, Provenance, Refusal, Terminal, ToolError, ToolName,
    ToolResult,
    arguments::{Arguments, Unreadable},
};
use toolwire_store::tasks::StepRef;
use toolwire_tool::context::{RequestId, ToolContext};

/// How a call ended.
pub type CallResult = Result<Terminal, Refusal>;

/// The rest of the pipeline, as a layer above it sees it.
pub(super) trait Inner:
    Service<Call, Response = Terminal, Error = Refusal, Future: Send + 'static> + Clone + Send + Sync + 'static
{
}

impl<S> Inner for S where
    S: Service<Call, Response = Terminal, Error = Refusal, Future: Send + 'static>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// What every face turns a request into.
#[derive(Clone, Debug)]
pub struct Call {
    /// Who calls, until when, on behalf of which task.
    pub context: ToolContext,
    pub target: Target,
    /// What to call it with: as the caller wrote it above `validate`, checked and complete below.
    pub arguments: Arguments,
    /// How the caller gave them. `validate` answers by it.
    pub given: Given,
    pub request_id: Option<RequestId>,
    /// What the caller asks for beside the result. `None` for nearly all.
    pub wishes: Option<Box<Wishes>>,
    /// What the agent of a task says of it. `record` completes it; `None` for a call that no timeline has.
    pub step_ref: Option<Box<StepRef>>,
    /// The tools that the caller's agent was offered: for it there are no others. `None`: all of the user's.
    pub offered: Option<Arc<BTreeSet<ToolName>>>,
    /// Why a person must approve it first. `confirm` says so; a face leaves it empty.
    pub cause: Option<ConfirmationCause>,
    pub arrived: Arrived,
    /// What is known of it so far.
    pub facts: Arc<Facts>,
}

/// What a caller asks for beside the result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// The definition that the call is bound to.
    pub expected_digest: Option<Digest>,
    /// How long to wait for a person.
    pub wait_for_confirmation: Option<Duration>,
    /// Whether a person must approve the call although its definition does not demand it.
    pub require_confirmation: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    Tool(String),
    /// A tool by an intent that routes to it.
    Intent(String),
}

/// When a call came, on both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// On the monotonic clock.
    pub at: Instant,
    pub wall: SystemTime,
}

impl Arrived {
    /// By both clocks, which are read one after the other.
    pub fn now() -> Self {
        Self { at: clock::now(), wall: clock::wall() }
    }
}

impl Wishes {
    /// The same, or nothing if nothing is asked for.
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
    /// A call that came now.
    pub fn new(context: ToolContext, target: Target, arguments: Arguments) -> Self {
        Self::arrived(Arrived::now(), context, target, arguments)
    }

    /// A call that came then.
    pub fn arrived(arrived: Arrived, context: ToolContext, target: Target, arguments: Arguments) -> Self {
        Self {
            context,
            target,
            arguments,
            given: Given::default(),
            request_id: None,
            wishes: None,
            step_ref: None,
            offered: None,
            cause: None,
            arrived,
            facts: Arc::default(),
        }
    }

    /// The same with what its caller wrote as arguments.
    #[must_use]
    pub fn written(self, arguments: Result<Arguments, Unreadable>) -> Self {
        let (arguments, given) = Given::of(arguments);
        Self { arguments, given, ..self }
    }

    /// Whether the caller's agent was offered a tool of this name.
    pub(super) fn offers(&self, tool: &str) -> bool {
        self.offered.as_ref().is_none_or(|offered| offered.contains(tool))
    }

    /// The tool.
    ///
    /// # Panics
    /// Above `authorize`, which passes only resolved calls on.
    pub fn tool(&self) -> &Arc<RegisteredTool> {
        self.facts.tool().expect("authorize passes only resolved calls on")
    }

    /// Whether it may do more than read.
    pub(super) fn writes(&self) -> bool {
        self.tool().definition.category != Category::Read
    }

    /// Sends the reader, if there is one, the event that the call is valid and begins: the first of all.
    pub(super) fn accept(&mut self) {
        let (tool, deadline) = (Arc::clone(self.tool()), self.context.deadline);
        self.context.events.accepted(|| Event::Accepted {
            tool: tool.definition.name.clone(),
            digest: tool.definition.digest,
            deadline: clock::wall_at(deadline.at()),
        });
    }

    /// The result of this call.
    pub fn result(&self, outcome: Outcome, provenance: Provenance) -> Terminal {
        Terminal::Result(ToolResult {
            tool: self.tool().definition.name.clone(),
            fetched_at: self.arrived.wall,
            outcome,
            provenance,
        })
    }

    /// Data of the tool, in the form that its manifest wants.
    pub(super) fn render(&self, data: Payload) -> Payload {
        match &self.tool().renderer {
            Some(renderer) => data.with_renderer(renderer),
            None => data,
        }
    }

    /// The result of this call when it failed.
    pub fn failed(&self, error: ToolError) -> Terminal {
        self.result(Err(error), Provenance::default())
    }

    /// What another call that asked for the same came to, as the result of this one.
    pub(super) fn adopt(&self, terminal: Terminal) -> Terminal {
        match terminal {
            Terminal::Result(result) => {
                Terminal::Result(ToolResult { fetched_at: self.arrived.wall, ..result })
            }
            other @ Terminal::ConfirmationRequired(_) => other,
        }
    }

    /// The refusal when something within the server went wrong, whose cause is in the log under the call's id.
    pub(super) fn internal(&self) -> Refusal {
        Refusal::Internal { call_id: self.context.call_id.to_string() }
    }
}

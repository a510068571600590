//! Facts that the layers establish about a call. They outlive the call itself, which the layers below consume: a layer
//! keeps the `Arc` and reads them after the end.

use std::sync::{
    Arc, Mutex, OnceLock, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use super::{
    delivery::Delivery,
    stages::{Stage, StageLog, Stages},
};
use crate::registry::RegisteredTool;
use tokio::time::Instant;
use toolwire_base::clock;
use toolwire_contract::{Refusal, Terminal, ToolResult};
use toolwire_state::tasks::Action;
use toolwire_tool::context::{RequestId, RequestLog};

/// Facts about a call. Each is set once, except the instance; only `detached` can be reverted.
#[derive(Debug, Default)]
pub struct Facts {
    tool: OnceLock<Arc<RegisteredTool>>,
    arguments: OnceLock<String>,
    names: OnceLock<String>,
    detached: AtomicBool,
    cache_hit: AtomicBool,
    in_timeline: AtomicBool,
    stages: StageLog,
    /// A call that is sent again may go to another one.
    instance: Mutex<Option<Arc<str>>>,
    // Boxed, since few calls have them, and each call has room for its facts.
    action: OnceLock<Box<Action>>,
    mistake: OnceLock<Box<RecordedMistake>>,
    delivery: OnceLock<Box<Delivery>>,
}

/// An error of a task's agent, as recorded in the task's timeline.
#[derive(Clone, Debug)]
pub struct RecordedMistake {
    pub sequence: u64,
    /// The result that its model reads.
    pub result: ToolResult,
}

impl Facts {
    pub fn tool(&self) -> Option<&Arc<RegisteredTool>> {
        self.tool.get()
    }

    /// The checked arguments as JSON text, if logging them is enabled.
    pub fn arguments(&self) -> Option<&str> {
        self.arguments.get().map(String::as_str)
    }

    /// The names of the checked arguments as JSON text with redacted values, for a ledger when arguments are not
    /// logged.
    pub fn names(&self) -> Option<&str> {
        self.names.get().map(String::as_str)
    }

    /// Whether the work continues without its caller.
    pub fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire)
    }

    /// Whether the result came from a cache or from an earlier call with the same `request_id`.
    pub fn is_cache_hit(&self) -> bool {
        self.cache_hit.load(Ordering::Acquire)
    }

    /// The next action of the agent's loop, after a call of a tool without code.
    pub fn action(&self) -> Option<&Action> {
        self.action.get().map(Box::as_ref)
    }

    /// The agent's error, once it is recorded in the timeline.
    pub fn mistake(&self) -> Option<&RecordedMistake> {
        self.mistake.get().map(Box::as_ref)
    }

    /// The stages so far.
    pub fn stages(&self) -> Stages {
        self.stages.copy()
    }

    /// The instance of a host that the call went to last.
    pub fn instance(&self) -> Option<Arc<str>> {
        self.instance.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn begin_stages(&self, arrived: Instant) {
        self.stages.begin(arrived);
    }

    /// Notes that a stage begins now.
    pub(in crate::pipeline) fn note(&self, stage: Stage) {
        self.stages.note(stage, clock::now());
    }

    /// Notes that a stage begins at an instant that was read already.
    pub(in crate::pipeline) fn note_at(&self, stage: Stage, now: Instant) {
        self.stages.note(stage, now);
    }

    pub(in crate::pipeline) fn set_mistake(&self, mistake: RecordedMistake) {
        let _ = self.mistake.set(Box::new(mistake));
    }

    /// Whether the task accepted the call; its end is then recorded with its entry in the timeline.
    pub(in crate::pipeline) fn is_in_timeline(&self) -> bool {
        self.in_timeline.load(Ordering::Acquire)
    }

    pub(in crate::pipeline) fn mark_in_timeline(&self) {
        self.in_timeline.store(true, Ordering::Release);
    }

    /// The `request_id` of a write whose caller asked to resume an equal one.
    pub fn resumed_request_id(&self) -> Option<RequestId> {
        self.delivery.get().map(|delivery| delivery.request_id())
    }

    /// Notes that the reader of the call takes its end.
    pub(in crate::pipeline) fn deliver(&self, end: Result<&Terminal, &Refusal>) {
        if let Some(delivery) = self.delivery.get() {
            delivery.deliver(end);
        }
    }

    pub(in crate::pipeline) fn set_delivery(&self, delivery: Delivery) {
        let _ = self.delivery.set(Box::new(delivery));
    }

    pub(in crate::pipeline) fn set_action(&self, action: Action) {
        let _ = self.action.set(Box::new(action));
    }

    pub(in crate::pipeline) fn set_tool(&self, tool: Arc<RegisteredTool>) {
        let _ = self.tool.set(tool);
    }

    pub(in crate::pipeline) fn set_arguments(&self, arguments: String) {
        let _ = self.arguments.set(arguments);
    }

    pub(in crate::pipeline) fn set_names(&self, names: String) {
        let _ = self.names.set(names);
    }

    pub(in crate::pipeline) fn detach(&self) {
        self.detached.store(true, Ordering::Release);
    }

    /// Reverts [`detach`](Self::detach), if nothing was begun.
    pub(in crate::pipeline) fn attach(&self) {
        self.detached.store(false, Ordering::Release);
    }

    pub(in crate::pipeline) fn mark_cache_hit(&self) {
        self.cache_hit.store(true, Ordering::Release);
    }
}

impl RequestLog for Facts {
    fn note_request(&self) {
        self.note(Stage::Requesting);
    }

    fn note_instance(&self, instance: Arc<str>) {
        *self.instance.lock().unwrap_or_else(PoisonError::into_inner) = Some(instance);
    }
}

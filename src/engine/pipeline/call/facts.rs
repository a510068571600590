//! What the layers find out about a call. Each fact is set once, by the layer that finds it out, and read by those
//! above it.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use crate::registry::RegisteredTool;
use toolwire_contract::ToolResult;
use toolwire_store::tasks::Action;

/// What the layers find out about a call, seen by the layers above them.
#[derive(Debug, Default)]
pub struct Facts {
    tool: OnceLock<Arc<RegisteredTool>>,
    arguments: OnceLock<String>,
    names: OnceLock<String>,
    detached: AtomicBool,
    cache_hit: AtomicBool,
    action: OnceLock<Action>,
    taken: AtomicBool,
    mistake: OnceLock<NotedMistake>,
}

/// What the agent of a task got wrong, as its timeline has it.
#[derive(Clone, Debug)]
pub struct NotedMistake {
    pub sequence: u64,
    /// The result that its model reads.
    pub result: ToolResult,
}

impl Facts {
    /// The tool, once it is resolved.
    pub fn tool(&self) -> Option<&Arc<RegisteredTool>> {
        self.tool.get()
    }

    /// The checked arguments as JSON text, where logging them is switched on.
    pub fn arguments(&self) -> Option<&str> {
        self.arguments.get().map(String::as_str)
    }

    /// The names of the checked arguments, as JSON text without their values: where a ledger wants them and the log
    /// shows none.
    pub fn names(&self) -> Option<&str> {
        self.names.get().map(String::as_str)
    }

    /// Whether the work goes on without its caller.
    pub fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire)
    }

    /// Whether the result came from a cache or from an earlier call with the same `request_id`.
    pub fn is_cache_hit(&self) -> bool {
        self.cache_hit.load(Ordering::Acquire)
    }

    /// What the agent's loop does next, after a call of a task that executed nothing.
    pub fn action(&self) -> Option<&Action> {
        self.action.get()
    }

    /// What the agent of a task got wrong, once its timeline has it.
    pub fn mistake(&self) -> Option<&NotedMistake> {
        self.mistake.get()
    }

    pub(in crate::pipeline) fn noted(&self, mistake: NotedMistake) {
        let _ = self.mistake.set(mistake);
    }

    /// Whether the task accepted the call, whose end is then recorded in any case.
    pub(in crate::pipeline) fn is_taken(&self) -> bool {
        self.taken.load(Ordering::Acquire)
    }

    pub(in crate::pipeline) fn take(&self) {
        self.taken.store(true, Ordering::Release);
    }

    pub(in crate::pipeline) fn acted(&self, action: Action) {
        let _ = self.action.set(action);
    }

    pub(in crate::pipeline) fn resolved(&self, tool: Arc<RegisteredTool>) {
        let _ = self.tool.set(tool);
    }

    pub(in crate::pipeline) fn checked(&self, arguments: String) {
        let _ = self.arguments.set(arguments);
    }

    pub(in crate::pipeline) fn named(&self, names: String) {
        let _ = self.names.set(names);
    }

    pub(in crate::pipeline) fn detach(&self) {
        self.detached.store(true, Ordering::Release);
    }

    /// Takes `detach` back: nothing was begun.
    pub(in crate::pipeline) fn attach(&self) {
        self.detached.store(false, Ordering::Release);
    }

    pub(in crate::pipeline) fn hit(&self) {
        self.cache_hit.store(true, Ordering::Release);
    }
}

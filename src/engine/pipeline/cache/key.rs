//! The key of a result: everything that it depends on, and the callers that it may answer.

use crate::{
    pipeline::Call,
    registry::{CachePolicy, CacheScope, CacheTier, Definition, Snapshot},
};
use toolwire_base::digest::Digest;
use toolwire_contract::json;
use toolwire_state::results::ResultKey;
use toolwire_tool::context::{SessionId, SourceStates, ToolContext};

/// Calls with the same key share one execution: those of one result at one depth.
///
/// Calls at different depths do not share an execution. Each waits only for deeper ones, so that no cycle of calls can
/// deadlock; and a result that is too large for a client may still answer a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ExecutionKey {
    pub(super) result: ResultKey,
    depth: usize,
}

impl ExecutionKey {
    pub(super) fn of(key: ResultKey, call: &Call) -> Self {
        Self { result: key, depth: call.context.depth }
    }
}

/// The key of a call's result in the snapshot that the call sees; `tool_state` identifies state that only the tool
/// knows.
pub(super) fn of(call: &Call, policy: &CachePolicy, snapshot: &Snapshot, tool_state: &str) -> ResultKey {
    let definition = &call.tool().definition;
    let Audience { user, session } = Audience::of(call, policy);
    let arguments = json::canonical(&call.arguments);
    let (data, state) = (data(definition, snapshot), state(definition, &call.context));
    let parts = [
        definition.name.as_bytes(),
        definition.digest.as_bytes(),
        data,
        state.as_bytes(),
        tool_state.as_bytes(),
        user.as_bytes(),
        session.as_bytes(),
        arguments.as_bytes(),
    ];
    *Digest::of_parts(parts).as_bytes()
}

/// The digest of the data that the tool reads, as the registry knows it.
fn data<'a>(definition: &Definition, snapshot: &'a Snapshot) -> &'a [u8] {
    let all = snapshot.data_digest().as_bytes();
    only_source(definition).map_or(all, |source| snapshot.source_digest(source).as_bytes())
}

/// The state of live data. It is pinned to the call here, so that a hit and the reads of the rest of the call's tree
/// see the same state.
fn state(definition: &Definition, context: &ToolContext) -> String {
    let Some(states) = context.services.find::<SourceStates>() else { return String::new() };
    match only_source(definition) {
        Some(source) => states.fix(source, context).unwrap_or_default(),
        None => states.fix_all(context),
    }
}

/// The only source that the tool reads. `None` for a tool that calls others, which reads their sources too.
fn only_source(definition: &Definition) -> Option<&str> {
    definition.source.as_ref().filter(|_| definition.depends_on.is_empty()).map(|source| source.name.as_str())
}

/// The callers that a result may answer. An empty field stands for all users or all sessions.
struct Audience<'a> {
    user: &'a str,
    session: &'a str,
}

impl<'a> Audience<'a> {
    fn of(call: &'a Call, policy: &CachePolicy) -> Self {
        let session = call.context.session_id.as_ref().map_or("", SessionId::as_str);
        let session = if policy.tier == CacheTier::Session { session } else { "" };
        // Without a session id, a shared result of this tier would be shared by all callers without one.
        let is_shared =
            policy.scope == CacheScope::Shared && (policy.tier != CacheTier::Session || !session.is_empty());
        Self { user: if is_shared { "" } else { call.context.user.id.as_str() }, session }
    }
}

//! The key of a result: everything that it depends on, and whom it may answer (spec 004 §6.3).

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    contract::json,
    pipeline::Call,
    registry::{CachePolicy, CacheScope, CacheTier, Definition, Snapshot},
    store::results::ResultKey,
};

/// What a flight is a flight of.
///
/// Calls at different depths do not share one: each waits only for deeper ones, so that no circle of calls can wait for
/// itself, and what is too large for a client may still answer a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Passage {
    pub(super) key: ResultKey,
    depth: usize,
}

impl Passage {
    pub(super) fn of(key: ResultKey, call: &Call) -> Self {
        Self { key, depth: call.context.depth }
    }
}

/// The key of a call's result in the state that the call sees.
pub(super) fn of(call: &Call, policy: &CachePolicy, snapshot: &Snapshot) -> ResultKey {
    let definition = &call.tool().definition;
    let Whom { user, session } = Whom::of(call, policy);
    let arguments = json::canonical(&Value::Object(call.arguments.clone()));
    let parts = [&definition.name, &definition.digest, data(definition, snapshot), user, session, &arguments];
    let mut digest = Sha256::new();
    for part in parts {
        // Lengths too, so that no two sequences of parts run into one.
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

/// The digest of the data that the tool reads. One that calls others reads what they read.
fn data<'a>(definition: &Definition, snapshot: &'a Snapshot) -> &'a str {
    match &definition.source {
        Some(source) if definition.depends_on.is_empty() => snapshot.source_digest(&source.name),
        _ => snapshot.data_digest(),
    }
}

/// Whom a result may answer. Empty for everybody, and for every session.
struct Whom<'a> {
    user: &'a str,
    session: &'a str,
}

impl<'a> Whom<'a> {
    fn of(call: &'a Call, policy: &CachePolicy) -> Self {
        let session = call.context.session_id.as_deref().unwrap_or_default();
        let session = if policy.tier == CacheTier::Session { session } else { "" };
        // A session is the caller's word. Without one the tier is the user's.
        let is_shared =
            policy.scope == CacheScope::Shared && (policy.tier != CacheTier::Session || !session.is_empty());
        Self { user: if is_shared { "" } else { call.context.user.id.as_str() }, session }
    }
}

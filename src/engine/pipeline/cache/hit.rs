//! A stored result as the outcome of a later call.

use crate::pipeline::Call;
use toolwire_contract::{Payload, Provenance, Terminal};
use toolwire_state::results::StoredResult;

/// Decodes a stored result as output of the tool, whose text is then rendered once for all hits. One that cannot be
/// decoded is a miss.
pub(super) fn decode(call: &Call, stored: StoredResult) -> Option<StoredResult<Payload>> {
    let read = stored.read(call.tool().output.as_ref());
    read.inspect_err(
        |error| tracing::warn!(tool_name = %call.tool().definition.name, %error, "a cached result is lost"),
    )
    .ok()
    .map(|stored| StoredResult { outcome: stored.outcome.map(|data| call.render(data)), ..stored })
}

/// Answers a call by a stored result.
pub(super) fn hit(call: &Call, stored: StoredResult<Payload>) -> Terminal {
    call.facts.mark_cache_hit();
    let age = stored.age(call.arrived.wall);
    let StoredResult { outcome, provenance, .. } = stored;
    // A store of bytes does not know which fields the manifest omits.
    let outcome = outcome.map(|data| call.render(data));
    // A composite may have been built from parts that were cached themselves.
    let cached_for = Some(age + provenance.cached_for.unwrap_or_default());
    call.result(outcome, Provenance { cached_for, ..provenance })
}

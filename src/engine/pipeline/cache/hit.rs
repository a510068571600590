//! A result that is kept, as the outcome of a later call.

use crate::pipeline::Call;
use toolwire_contract::{Payload, Provenance, Terminal};
use toolwire_store::results::StoredResult;

/// What is kept, if it can be read as data of the tool. What cannot is replaced by what is fetched now.
pub(super) fn readable(call: &Call, stored: StoredResult) -> Option<StoredResult<Payload>> {
    let read = stored.read(call.tool().output.as_ref());
    read.inspect_err(
        |error| tracing::warn!(tool_name = %call.tool().definition.name, %error, "a cached result is lost"),
    )
    .ok()
}

/// The outcome of a call that the kept result answers.
pub(super) fn hit(call: &Call, stored: StoredResult<Payload>) -> Terminal {
    call.facts.hit();
    let age = stored.age(call.arrived.wall);
    let StoredResult { outcome, provenance, .. } = stored;
    // A store that keeps bytes does not know what the manifest leaves out.
    let outcome = outcome.map(|data| call.render(data));
    // A composite may have been made from parts that were not new even then.
    let cached_for = Some(age + provenance.cached_for.unwrap_or_default());
    call.result(outcome, Provenance { cached_for, ..provenance })
}

//! Tools that let any client check the service's promises. Offered by `serve --diagnostics` only.

pub mod confirm;
pub mod confirm_nested;
mod counts;
pub mod fail;
pub mod nested;
pub mod panic;
pub mod sleep;
mod stop_record;
pub mod stream;
pub mod write;

use std::{sync::Arc, time::Duration};

use toolwire_contract::Provenance;
use toolwire_tool::{Executor, erase};

/// The tools that the domain offers.
pub(super) fn all() -> Vec<Arc<dyn Executor>> {
    vec![
        erase(confirm::DebugConfirm::default()),
        erase(confirm_nested::DebugConfirmNested),
        erase(fail::DebugFail),
        erase(nested::DebugNested),
        erase(panic::DebugPanic),
        erase(sleep::DebugSleep),
        erase(stream::DebugStream),
        erase(write::DebugWrite::default()),
    ]
}

/// Where the data of a diagnostics tool comes from.
fn provenance() -> Provenance {
    Provenance::of("tool:diagnostics:v1", "")
}

/// An optional length of time that the schema has checked; zero when it is absent.
fn or_zero(duration: Option<prost_types::Duration>) -> Duration {
    duration.and_then(|duration| duration.try_into().ok()).unwrap_or_default()
}

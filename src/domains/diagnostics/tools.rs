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

use std::time::Duration;

use toolwire_contract::Provenance;

/// Where the data of a diagnostics tool comes from.
fn provenance() -> Provenance {
    Provenance::of("tool:diagnostics:v1", "")
}

/// An optional length of time that the schema has checked; zero when it is absent.
fn or_zero(duration: Option<prost_types::Duration>) -> Duration {
    duration.and_then(|duration| duration.try_into().ok()).unwrap_or_default()
}

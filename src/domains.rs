//! The bundled domains. A domain is one line in this list; `main.rs` hands it to the command line.

pub use toolwire_diagnostics as diagnostics;
#[cfg(feature = "samples")]
pub use {
    toolwire_brokerage as brokerage, toolwire_orchestration as orchestration, toolwire_research as research,
};

#[cfg(feature = "samples")]
use crate::server::domain::Offer;
use crate::{agent, server::domain::Domain};

/// Every domain that comes with Toolwire. Without the feature `samples`, the diagnostics alone.
pub fn bundled() -> Vec<Domain> {
    vec![
        #[cfg(feature = "samples")]
        sample(brokerage::domain()),
        #[cfg(feature = "samples")]
        sample(research::domain()),
        #[cfg(feature = "samples")]
        sample(orchestration::domain()),
        #[cfg(feature = "samples")]
        orchestration::results(),
        diagnostics::domain(),
        agent::domain(),
    ]
}

#[cfg(feature = "samples")]
fn sample(domain: Domain) -> Domain {
    Domain { offer: Offer::Sample, ..domain }
}

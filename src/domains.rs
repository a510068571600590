//! The bundled domains. A domain is one line in this list; `main.rs` hands it to the command line.

pub mod brokerage;
pub mod diagnostics;
pub mod research;

use crate::domain::Domain;

/// Every domain that comes with Toolwire.
pub fn bundled() -> Vec<Domain> {
    vec![brokerage::domain(), research::domain(), diagnostics::domain()]
}

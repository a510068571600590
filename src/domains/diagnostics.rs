//! Tools that let any client check the service's promises. Offered by `serve --diagnostics` only.

pub mod proto;
pub mod tools;

use crate::{
    domain::{Domain, Offer},
    tool::erase,
};

/// The domain.
pub fn domain() -> Domain {
    Domain {
        offer: Offer::WithDiagnostics,
        tools: vec![
            erase(tools::fail::DebugFail),
            erase(tools::nested::DebugNested),
            erase(tools::panic::DebugPanic),
            erase(tools::sleep::DebugSleep),
            erase(tools::stream::DebugStream),
            erase(tools::write::DebugWrite::default()),
        ],
        descriptors: proto::DESCRIPTORS,
        ..Domain::new("diagnostics")
    }
}

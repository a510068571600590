//! Tools that let any client check the service's promises. Offered by `serve --diagnostics` only.

pub mod proto;
pub mod tools;

use include_dir::{Dir, include_dir};

use toolwire_base::files::Embedded;
use toolwire_server::domain::{Domain, Offer};
use toolwire_tool::erase;

static DATA: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/diagnostics");

pub fn domain() -> Domain {
    Domain {
        offer: Offer::WithDiagnostics,
        data: Embedded::folder("diagnostics", &DATA),
        tools: vec![
            erase(tools::confirm::DebugConfirm::default()),
            erase(tools::confirm_nested::DebugConfirmNested),
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

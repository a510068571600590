//! Tools that let any client check the service's promises. Offered by `serve --diagnostics` only.

pub mod proto;
pub mod tools;

use include_dir::{Dir, include_dir};

use toolwire_base::files::Embedded;
use toolwire_server::domain::{Domain, Offer};

static DATA: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/diagnostics");

pub fn domain() -> Domain {
    Domain {
        offer: Offer::WithDiagnostics,
        data: Embedded::folder("diagnostics", &DATA),
        tools: tools::all(),
        descriptors: proto::DESCRIPTORS,
        ..Domain::new("diagnostics")
    }
}

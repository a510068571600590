//! `toolwire manifest-schema`: the JSON Schema of manifests, for editors.

use toolwire_engine::registry;
use toolwire_server::console::{self, Failure};

pub(super) fn run() -> Result<(), Failure> {
    console::json_pretty(&registry::manifest_schema())
}

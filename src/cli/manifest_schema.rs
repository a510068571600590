//! `toolwire manifest-schema`: the JSON Schema of manifests, for editors.

use clap::Args;

use crate::{
    console::{self, Failure},
    registry,
};

/// Prints the JSON Schema of a tool's manifest, for editors
#[derive(Debug, Args)]
pub(super) struct ManifestSchema {}

impl ManifestSchema {
    pub(super) fn run(self) -> Result<(), Failure> {
        console::print(&format!("{:#}", registry::manifest_schema()))
    }
}

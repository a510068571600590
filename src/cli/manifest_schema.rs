//! `toolwire manifest-schema`: the JSON Schema of manifests, for editors.

use clap::Args;

use crate::{
    console::{self, Failure},
    registry,
};

/// Prints the JSON Schema of a tool's manifest, for editors
#[derive(Debug, Args)]
pub(super) struct ManifestSchema {
    /// Prints it on one line
    #[arg(long)]
    compact: bool,
}

impl ManifestSchema {
    pub(super) fn run(&self) -> Result<(), Failure> {
        let schema = registry::manifest_schema();
        console::print(&if self.compact { schema.to_string() } else { format!("{schema:#}") })
    }
}

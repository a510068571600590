//! `toolwire docs`: the tools as markdown, from their definitions.

use std::path::PathBuf;

use clap::Args;

use super::{settings::Settings, wiring};
use toolwire_server::{
    console::{
        self, Failure,
        files::{self, Existing},
    },
    domain::Domain,
};

/// Writes docs/TOOLS.md from the manifests
#[derive(Debug, Args)]
pub(super) struct Docs {
    /// Writes nothing; fails if the file is not what would be written
    #[arg(long)]
    check: bool,
    /// The file to write or to check
    #[arg(long, value_name = "FILE", default_value = "docs/TOOLS.md")]
    output: PathBuf,
    #[command(flatten)]
    settings: Settings,
}

impl Docs {
    pub(super) fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let config = self.settings.load(domains)?.config;
        let app = wiring::open(&config, domains)?;
        let text = wiring::render_docs(&app);
        if self.check {
            return files::check(&self.output, &text, "toolwire docs");
        }
        files::write(&self.output, &text, Existing::Replace)?;
        console::say(&format!("wrote {}", self.output.display()));
        Ok(())
    }
}

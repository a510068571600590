//! `toolwire import`: merges legacy per-domain files into one master file.

use std::path::PathBuf;

use clap::Args;

use super::{
    failure::Failure,
    files::{self, Existing},
    output, wiring,
};

/// Merges legacy per-domain files into one user_master.json
#[derive(Debug, Args)]
pub(super) struct Import {
    /// The directory of account.json, positions.json and so on
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The file to write; without it, standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replaces the file if it is there already
    #[arg(long, requires = "output")]
    force: bool,
}

impl Import {
    pub(super) fn run(self) -> Result<(), Failure> {
        let master = wiring::merge_legacy(&self.directory)?;
        let text = format!("{master:#}\n");
        let Some(path) = &self.output else { return output::print(&text) };
        let existing = if self.force { Existing::Replace } else { Existing::Keep };
        files::write(path, &text, existing)?;
        output::say(&format!("wrote {}", path.display()));
        Ok(())
    }
}

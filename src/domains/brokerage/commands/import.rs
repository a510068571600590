//! `toolwire import`: merges legacy per-domain files into one master file.

use std::path::PathBuf;

use clap::Args;

use crate::source::import;
use toolwire_server::console::{
    self, Failure,
    files::{self, Existing},
};

/// Merges legacy per-domain files into one user_master.json
#[allow(clippy::doc_markdown, reason = "a help text, shown as it stands")]
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

pub(super) fn run(import: Import) -> Result<(), Failure> {
    let Import { directory, output, force } = import;
    let master = import::merge(&directory).map_err(|problems| Failure::Failed(problems.to_string()))?;
    let Some(path) = &output else { return console::json_pretty(&master) };
    files::write(path, &format!("{master:#}\n"), if force { Existing::Replace } else { Existing::Keep })?;
    console::say(&format!("wrote {}", path.display()));
    Ok(())
}

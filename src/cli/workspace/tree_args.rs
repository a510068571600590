//! The arguments that name documents, and their output.

use clap::Args;

use crate::connection::Connection;

/// What every command names.
#[derive(Debug, Args)]
pub(super) struct TreeArgs {
    /// Any task of the tree
    #[arg(value_name = "TASK")]
    pub(super) task: String,
    /// Prints JSON, one line each
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) connection: Connection,
}

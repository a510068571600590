//! The options of commands that show what an observer may see of other users.

use clap::Args;

use super::connection::Connection;

#[derive(Debug, Args)]
pub(super) struct ObserverOptions {
    // Not `user`, which is who asks.
    /// Shows those of another user, or with '*' those of all users, if you may observe
    #[arg(long = "of", value_name = "USER", default_value = "", hide_default_value = true)]
    pub(super) user_id: String,
    /// Prints JSON lines
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) connection: Connection,
}

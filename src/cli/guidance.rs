//! `toolwire guidance`: how to use the tools well, for a system prompt.

use clap::Args;

use super::connection::Connection;
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Prints how to use the tools well, for the system prompt of an agent
#[derive(Debug, Args)]
pub(super) struct Guidance {
    /// Only of tools with this tag; several must all match
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    #[command(flatten)]
    connection: Connection,
}

impl Guidance {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open(domains).await?;
        let guidance = backend.guidance(&self.tag).await.map_err(|status| client::refused(&status))?;
        if guidance.is_empty() {
            console::say("no guidance: no tool of yours is limited or says how to use it");
            return Ok(());
        }
        console::print(&guidance)
    }
}

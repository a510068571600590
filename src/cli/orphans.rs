//! `toolwire end-orphans`: the guard of the processes of MCP servers, which a serving process starts.

use clap::Args;

use toolwire_config::{Config, McpTarget};
use toolwire_mcp::upstream::guard::{Guard, end_orphans};
use toolwire_server::console;

/// The name of the command.
pub(super) const NAME: &str = "end-orphans";

/// Ends the processes of MCP servers once standard input ends, for the server that starts this
#[derive(Debug, Args)]
pub(super) struct EndOrphans {
    /// What their environments have
    #[arg(value_name = "MARK")]
    mark: String,
}

impl EndOrphans {
    pub(super) fn run(&self) {
        let count = end_orphans(&self.mark);
        if count > 0 {
            console::say(&format!("toolwire has ended, and {count} processes of its MCP servers with it"));
        }
    }
}

/// Starts the guard if MCP servers are to be started. It is there until it is dropped.
pub(super) fn guard(config: &Config) -> Option<Guard> {
    let mut servers = config.providers.mcp_servers();
    if !servers.any(|(_, server)| matches!(server.target, McpTarget::Command { .. })) {
        return None;
    }
    Guard::start(NAME)
        .inspect_err(|error| {
            tracing::warn!(%error, "without a guard, processes of MCP servers may outlive this one if it is killed");
        })
        .ok()
}

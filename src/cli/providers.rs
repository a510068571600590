//! `toolwire providers`: what executes tools outside the server, and how many of its tools can be called; what MCP
//! servers list, compared with what was accepted, and accepted.

mod difference;
mod trust;

use std::collections::BTreeMap;

use clap::{Args, Subcommand};

use self::trust::{Accept, Diff};
use super::{connection::Connection, table::Table};
use toolwire_base::words::counted;
use toolwire_contract::proto::v1;
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Lists the providers that execute tools outside the server
///
/// Of each the tools that you may call are counted. A provider without a host for ten minutes has none.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Providers {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Shows what an MCP server lists now beside what was accepted of it
    Diff(Diff),
    /// Accepts the tools of an MCP server as `diff` showed them
    ///
    /// On the server's machine, with the server's settings and state. A server that runs takes it over within a second.
    Accept(Accept),
}

/// The tools of a provider.
#[derive(Debug, Default)]
struct Summary {
    tools: usize,
    /// Why some cannot be called, of the first of them.
    reason: Option<String>,
}

impl Providers {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        match self.action {
            Some(Action::Diff(diff)) => return diff.run(domains).await,
            Some(Action::Accept(accept)) => return accept.run(domains).await,
            None => {}
        }
        let backend = self.connection.open(domains).await?;
        let tools =
            backend.list(&[], v1::ToolView::Basic).await.map_err(|status| client::refusal(&status))?;
        let rows = rows(&tools);
        if rows.is_empty() {
            console::say(
                "no providers; a host that dials in makes one, or an MCP server: docs/OWN_TOOLS.md, docs/MCP_UPSTREAM.md",
            );
            return Ok(());
        }
        Table::new(rows).print()
    }
}

fn rows(tools: &[v1::ToolDefinition]) -> Vec<[String; 3]> {
    let mut providers: BTreeMap<&str, Summary> = BTreeMap::new();
    for tool in tools.iter().filter(|tool| !tool.provider.is_empty()) {
        let summary = providers.entry(&tool.provider).or_default();
        summary.tools += 1;
        let status = tool.status.as_ref().filter(|it| it.state() != v1::ToolState::Ready);
        summary.reason = summary.reason.take().or_else(|| status.map(|it| it.reason.clone()));
    }
    let row = |(name, Summary { tools, reason }): (&str, Summary)| {
        [name.to_owned(), counted(tools, "tool", "tools"), reason.unwrap_or_else(|| "ready".to_owned())]
    };
    providers.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, provider: &str, reason: &str) -> v1::ToolDefinition {
        let state = if reason.is_empty() { v1::ToolState::Ready } else { v1::ToolState::Degraded };
        v1::ToolDefinition {
            name: name.to_owned(),
            provider: provider.to_owned(),
            status: Some(v1::ToolStatus { state: state.into(), reason: reason.to_owned() }),
            ..v1::ToolDefinition::default()
        }
    }

    #[test]
    fn each_provider_is_a_line_and_the_servers_own_tools_are_none() {
        let tools = [
            tool("get_quotes", "", ""),
            tool("refund", "shop", "no host is connected"),
            tool("balance", "bank", ""),
            tool("order_status", "shop", "no host is connected"),
        ];
        let expected = [["bank", "1 tool", "ready"], ["shop", "2 tools", "no host is connected"]];
        assert_eq!(rows(&tools), expected.map(|row| row.map(str::to_owned)));
    }
}

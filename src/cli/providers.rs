//! `toolwire providers`: what executes tools outside the server, and how many of its tools can be called; what MCP
//! servers list, compared with what was accepted, and accepted.

mod difference;
mod show;
mod trust;

use clap::{Args, Subcommand};

use self::trust::{Accept, Diff};
use super::{
    backend::{Backend, into_answer},
    connection::Connection,
    json,
    signals::unless_interrupted,
};
use toolwire_base::words::visible;
use toolwire_contract::proto::v1::{self, ProviderWatchType};
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Lists the providers that execute tools outside the server
///
/// Of each the tools that you may call are counted, and the programs that serve it, wait since another version is in
/// service, or were refused are shown, with the offers that are not served. Where a server has several processes, it is
/// what the one that answers knows.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Providers {
    #[command(subcommand)]
    action: Option<Action>,
    /// Shows what there is, then each that changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
    /// Prints each as one JSON line; with --watch each event
    #[arg(long)]
    json: bool,
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

impl Providers {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        match self.action {
            Some(Action::Diff(diff)) => return diff.run(domains).await,
            Some(Action::Accept(accept)) => return accept.run(domains).await,
            None => {}
        }
        let backend = self.connection.open(domains).await?;
        if self.watch {
            return unless_interrupted(follow(&backend, self.json)).await;
        }
        let request = v1::ListProvidersRequest {};
        let providers = into_answer(backend.tools().list_providers(request)).await?.providers;
        if self.json {
            return console::json_lines(providers.iter().map(json::plain));
        }
        if providers.is_empty() {
            console::say(
                "no providers; a host that dials in makes one, or an MCP server: docs/OWN_TOOLS.md, docs/MCP_UPSTREAM.md",
            );
            return Ok(());
        }
        providers.iter().try_for_each(show::print)
    }
}

/// Prints the providers, then each that changes.
async fn follow(backend: &Backend, as_json: bool) -> Result<(), Failure> {
    let request = v1::WatchProvidersRequest {};
    let mut events = into_answer(backend.providers().watch_providers(request)).await?;
    while let Some(event) = events.message().await.map_err(|status| client::refusal(&status))? {
        if as_json {
            if console::json(&json::plain(&event))? == console::Reader::Gone {
                return Ok(());
            }
            continue;
        }
        match (event.r#type(), &event.provider) {
            (ProviderWatchType::Removed, Some(provider)) => {
                console::line(&format!("{} is gone", visible(&provider.name)))?;
            }
            (_, Some(provider)) => show::print(provider)?,
            (_, None) => {}
        }
    }
    Err(Failure::Failed("the server ended the watch; watch again".to_owned()))
}

//! `toolwire providers diff|accept NAME`: an operator looks at what an MCP server lists, and accepts it.
//!
//! The server is asked by this process, by its own settings: no running server is needed, and none can be asked by
//! others to accept anything.

use clap::Args;

use super::difference;
use crate::{settings::Settings, wiring};
use toolwire_base::{
    clock,
    words::{counted, visible},
};
use toolwire_mcp::upstream::{ListedTool, list_once};
use toolwire_server::{
    app::{App, as_accepted, mcp_target},
    console::{self, Failure},
    domain::Domain,
};
use toolwire_store::accepted_tools::AcceptedTool;

#[derive(Debug, Args)]
pub(super) struct Trusted {
    /// The provider, as in `[providers.NAME]`
    #[arg(value_name = "NAME")]
    provider: String,
    #[command(flatten)]
    settings: Settings,
}

/// What is listed now, and what was accepted.
struct Lists {
    app: App,
    listed: Vec<ListedTool>,
    accepted: Vec<AcceptedTool>,
}

impl Trusted {
    pub(super) async fn diff(&self, domains: &[Domain]) -> Result<(), Failure> {
        let same = self.lists(domains).await?.print_differences()?;
        console::print(&format!("{} as accepted", counted(same, "tool is", "tools are")))
    }

    pub(super) async fn accept(&self, domains: &[Domain]) -> Result<(), Failure> {
        let lists = self.lists(domains).await?;
        let tools: Vec<_> = lists.listed.iter().map(as_accepted).collect();
        let recorded = lists.app.state.accept_tools(&self.provider, &tools, clock::wall()).await;
        recorded.map_err(|error| Failure::Failed(error.to_string()))?;
        // This list was fetched by this command, and may differ from the one that `diff` showed.
        lists.print_differences()?;
        console::print(&format!("accepted {} of {}", counted(tools.len(), "tool", "tools"), self.provider))
    }

    async fn lists(&self, domains: &[Domain]) -> Result<Lists, Failure> {
        let config = self.settings.load(domains)?.config;
        let Some((_, server)) = config.providers.mcp_servers().find(|(name, _)| *name == self.provider)
        else {
            return Err(Failure::Start(format!(
                "no MCP server is configured as [providers.{}] with kind = \"mcp\"",
                self.provider
            )));
        };
        let app = wiring::open(&config, domains)?;
        wiring::open_state(&app).await?;
        let target = mcp_target(server).map_err(Failure::Failed)?;
        let unreached =
            |error| Failure::Failed(format!("the MCP server {} cannot be asked: {error}", self.provider));
        let listed = list_once(&target).await.map_err(unreached)?;
        let accepted = app.state.accepted_tools(&self.provider).await;
        let accepted = accepted.map_err(|error| Failure::Failed(error.to_string()))?;
        Ok(Lists { app, listed, accepted })
    }
}

impl Lists {
    /// Prints what differs from what was accepted. Returns how many tools do not.
    fn print_differences(&self) -> Result<usize, Failure> {
        let Self { listed, accepted, .. } = self;
        let mut same = 0;
        for tool in listed {
            let name = visible(&tool.name);
            match accepted.iter().find(|it| it.name == tool.name) {
                Some(it) if it.digest == tool.digest => same += 1,
                Some(it) => print(&format!("changed  {name}"), &difference::lines(&it.text, &tool.text))?,
                None => print(&format!("new      {name}"), &difference::whole(&tool.text))?,
            }
        }
        let is_gone = |it: &&AcceptedTool| !listed.iter().any(|tool| tool.name == it.name);
        for gone in accepted.iter().filter(is_gone) {
            print(&format!("gone     {}", visible(&gone.name)), &[])?;
        }
        Ok(same)
    }
}

fn print(line: &str, below: &[String]) -> Result<(), Failure> {
    console::print(line)?;
    below.iter().try_for_each(|line| console::print(line))
}

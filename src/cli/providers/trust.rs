//! `toolwire providers diff|accept NAME`: an operator looks at what an MCP server lists, and accepts it.
//!
//! The server is asked by this process, by its own settings: no running server is needed, and none can be asked by
//! others to accept anything. What is accepted is the list that the operator saw, which its digest identifies.

use clap::Args;

use super::difference;
use crate::{
    settings::{Settings, as_flags},
    wiring,
};
use toolwire_base::{
    digest::Digest,
    words::{counted, visible},
};
use toolwire_mcp::upstream::{ListedTool, list_once};
use toolwire_server::{
    app::{App, as_accepted, mcp_target, setting_of_names},
    console::{self, Failure},
    domain::Domain,
};
use toolwire_state::accepted_tools::AcceptedTool;

#[derive(Debug, Args)]
pub(super) struct Diff {
    #[command(flatten)]
    server: Server,
}

#[derive(Debug, Args)]
pub(super) struct Accept {
    #[command(flatten)]
    server: Server,
    /// The digest of the list that you saw, as `diff` prints it; without it you see the differences and are asked
    #[arg(long, value_name = "DIGEST")]
    digest: Option<String>,
}

#[derive(Debug, Args)]
struct Server {
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
    /// The setting that gives names to tools that have none.
    setting: Option<String>,
}

impl Diff {
    pub(super) async fn run(&self, domains: &[Domain]) -> Result<(), Failure> {
        let lists = self.server.lists(domains).await?;
        if !lists.print_differences()? {
            console::print(&format!("accept this list by `{}`", self.server.accept_command(&lists)))?;
        }
        Ok(())
    }
}

impl Accept {
    pub(super) async fn run(&self, domains: &[Domain]) -> Result<(), Failure> {
        let lists = self.server.lists(domains).await?;
        match &self.digest {
            Some(digest) => self.server.refuse_other_list(digest, &lists)?,
            None if lists.print_differences()? => return Ok(()),
            None => self.ask(&lists).await?,
        }
        let (tools, provider) = (lists.tools(), &self.server.provider);
        let recorded = lists.app.state.accept_tools(provider, &tools).await;
        recorded.map_err(|error| Failure::Failed(error.to_string()))?;
        console::print(&format!("accepted {} of {provider}", counted(tools.len(), "tool", "tools")))
    }

    async fn ask(&self, lists: &Lists) -> Result<(), Failure> {
        if !console::is_interactive() {
            let command = self.server.accept_command(lists);
            return Err(Failure::Failed(format!("nothing is accepted; accept this list by `{command}`")));
        }
        let answer = console::answer("Accept this list? [y/N] ").await;
        let answer = answer.map_err(|error| Failure::Failed(format!("cannot ask: {error}")))?;
        match answer.unwrap_or_default().trim().to_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(Failure::Failed("nothing is accepted".to_owned())),
        }
    }
}

impl Server {
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
        let target = mcp_target(server, &config.egress).map_err(Failure::Failed)?;
        let unreached =
            |error| Failure::Failed(format!("the MCP server {} cannot be asked: {error}", self.provider));
        let listed = list_once(&target).await.map_err(unreached)?;
        let accepted = app.state.accepted_tools(&self.provider).await;
        let accepted = accepted.map_err(|error| Failure::Failed(error.to_string()))?;
        let setting = setting_of_names(server, &listed);
        Ok(Lists { app, listed, accepted, setting })
    }

    fn accept_command(&self, lists: &Lists) -> String {
        let flags = as_flags(&self.settings.to_words(|path| path.display().to_string()));
        format!("toolwire providers accept {} --digest {}{flags}", self.provider, lists.digest())
    }

    /// What is listed may have changed since it was shown.
    fn refuse_other_list(&self, digest: &str, lists: &Lists) -> Result<(), Failure> {
        if digest == lists.digest().to_string() {
            return Ok(());
        }
        let provider = &self.provider;
        Err(Failure::Failed(format!(
            "{provider} lists something else than what this digest is of; look again by `toolwire providers diff \
             {provider}`. Nothing is accepted"
        )))
    }
}

impl Lists {
    fn tools(&self) -> Vec<AcceptedTool> {
        self.listed.iter().map(as_accepted).collect()
    }

    /// Of all that is accepted with the list.
    fn digest(&self) -> Digest {
        Digest::of_parts(self.listed.iter().map(|tool| tool.digest.as_bytes()))
    }

    /// Prints what differs from what was accepted. Returns whether nothing does.
    fn print_differences(&self) -> Result<bool, Failure> {
        let Self { listed, accepted, setting, .. } = self;
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
        if let Some(setting) = setting {
            console::print("some tools need names; in the configuration of the provider:")?;
            console::print(setting)?;
        }
        console::print(&format!("{} as accepted", counted(same, "tool is", "tools are")))?;
        Ok(same == listed.len() && same == accepted.len())
    }
}

fn print(line: &str, below: &[String]) -> Result<(), Failure> {
    console::print(line)?;
    below.iter().try_for_each(|line| console::print(line))
}

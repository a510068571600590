//! The tools that MCP servers list, as offers: renamed, classified by the operator, and disabled unless they are as
//! they were accepted.

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt};
use tokio::time::sleep;

use super::{
    Intake, Proposal, executor,
    gated_tool::{Gates, put_behind_gate},
    strictness, take_over,
    trust::{as_accepted, check_accepted},
};
use toolwire_config::{Config, McpServer, Providers, Unnamed, name_tools, propose_names};
use toolwire_contract::proto::host::v1 as wire;
use toolwire_engine::registry::{Definition, MakeExecutor, Registry};
use toolwire_mcp::upstream::{Link, ListedTool, McpTool, Registrar};
use toolwire_providers::{
    LastVerdicts, Verdicts,
    ids::ProviderName,
    offer::{Author, Problem, Strictness},
};
use toolwire_state::{Store, accepted_tools::AcceptedTool};

/// Between two attempts to read what is accepted.
const RETRY: Duration = Duration::from_secs(1);

/// Takes listed tools into the registry.
pub(super) struct McpOffers {
    registry: Arc<Registry>,
    state: Arc<Store>,
    providers: Providers,
    gates: Gates,
    strictness: Strictness,
    verdicts: LastVerdicts,
}

impl McpOffers {
    pub(super) fn new(
        config: &Config,
        registry: &Arc<Registry>,
        state: &Arc<Store>,
        gates: &Gates,
        verdicts: LastVerdicts,
    ) -> Self {
        Self {
            registry: Arc::clone(registry),
            state: Arc::clone(state),
            providers: config.providers.clone(),
            gates: gates.clone(),
            strictness: strictness(config),
            verdicts,
        }
    }

    fn server(&self, provider: &ProviderName) -> Option<&McpServer> {
        self.providers.mcp_servers().find(|(name, _)| *name == provider.as_str()).map(|(_, server)| server)
    }

    /// What is accepted. On a developer's machine the first list is.
    async fn load_accepted(&self, provider: &ProviderName, listed: &[ListedTool]) -> Vec<AcceptedTool> {
        loop {
            match self.read_accepted(provider, listed).await {
                Ok(accepted) => return accepted,
                Err(error) => {
                    tracing::warn!(%provider, %error, "what is accepted of an MCP server cannot be read");
                }
            }
            sleep(RETRY).await;
        }
    }

    async fn read_accepted(
        &self,
        provider: &ProviderName,
        listed: &[ListedTool],
    ) -> Result<Vec<AcceptedTool>, toolwire_db::StoreError> {
        if self.strictness == Strictness::Lenient {
            let tools: Vec<_> = listed.iter().map(as_accepted).collect();
            if self.state.accept_first_tools(provider.as_str(), &tools).await? {
                tracing::warn!(
                    %provider,
                    tools = tools.len(),
                    "the first list of an MCP server is accepted unseen, since there are no users"
                );
            }
        }
        self.state.accepted_tools(provider.as_str()).await
    }

    fn proposals(
        &self,
        server: &McpServer,
        link: &Link,
        listed: &[ListedTool],
        known: &[AcceptedTool],
    ) -> (Vec<Proposal>, Verdicts) {
        let provider = link.provider().as_str();
        let (mut proposals, mut refused) = (Vec::new(), Verdicts::default());
        let names: Vec<_> = listed.iter().map(|it| it.name.as_str()).collect();
        for (tool, name) in listed.iter().zip(name_tools(&names, &server.renames)) {
            let name = match &name {
                Ok(name) => name.as_str(),
                Err(Unnamed::Hidden) => continue,
                Err(unnamed) => {
                    refused.refuse(&tool.name, &[refuse(unnamed, &tool.name, provider)]);
                    continue;
                }
            };
            let is_read = server.read.iter().any(|pattern| pattern.matches(name));
            let instead = check_accepted(provider, tool, known)
                .err()
                .map(|reason| (reason, ListedTool::offer_unread(name, is_read, provider)));
            let make = put_behind_gate(self.gates.get(provider), mcp_tool(link, tool.name.clone()));
            proposals.push(Proposal { offer: tool.offer(name, is_read), instead, make });
        }
        (proposals, refused)
    }

    /// Logs what is refused and what should be fixed, once each time it changes, with the setting that gives names to
    /// what has none.
    fn report(&self, provider: &ProviderName, verdicts: &Verdicts, setting: Option<&str>) {
        let before = self.verdicts.replace(provider, verdicts);
        for verdict in verdicts.verdicts.iter().filter(|it| !before.contains(it)) {
            let problems: Vec<_> = verdict
                .problems
                .iter()
                .map(|it| format!("{} {}: {}", it.pointer, it.rule, it.description))
                .collect();
            let (tool, problems) = (&verdict.tool, problems.join("; "));
            if verdict.state() == wire::VerdictState::Refused {
                tracing::warn!(%provider, ?tool, problems, "a tool of an MCP server is refused");
            } else {
                tracing::warn!(%provider, ?tool, problems, "a tool of an MCP server should be fixed");
            }
        }
        if let Some(setting) = setting
            && verdicts.verdicts != before
        {
            tracing::warn!(%provider, "tools of an MCP server need names; under [providers.{provider}]: {setting}");
        }
    }
}

impl Registrar for McpOffers {
    fn serve<'a>(&'a self, link: &'a Link, listed: &'a [ListedTool]) -> BoxFuture<'a, ()> {
        async move {
            let provider = link.provider();
            let Some(server) = self.server(provider) else { return };
            let known = self.load_accepted(provider, listed).await;
            let intake = Intake {
                registry: Arc::clone(&self.registry),
                provider: provider.clone(),
                floor: self.providers.floor(provider.as_str()),
                strictness: self.strictness,
                author: Author::Server,
            };
            let (proposals, refused) = self.proposals(server, link, listed, &known);
            let mut verdicts = take_over(intake, proposals).await;
            if verdicts.accepted == 0 {
                // It no longer lists what it had.
                self.withdraw(provider);
            }
            verdicts.verdicts.extend(refused.verdicts);
            self.report(provider, &verdicts, setting_of_names(server, listed).as_deref());
        }
        .boxed()
    }

    fn set_degraded(&self, provider: &ProviderName, reason: Option<String>) {
        self.registry.set_provider_degraded(provider.as_str(), reason);
    }

    fn withdraw(&self, provider: &ProviderName) {
        self.registry.withdraw(provider.as_str());
    }
}

/// The setting that gives a name to each tool of a list, if some have none.
pub fn setting_of_names(server: &McpServer, listed: &[ListedTool]) -> Option<String> {
    let names: Vec<_> = listed.iter().map(|it| it.name.as_str()).collect();
    propose_names(&names, &server.renames)
}

fn refuse(unnamed: &Unnamed, its: &str, provider: &str) -> Problem {
    let what = match unnamed {
        Unnamed::Shared { name, with } => format!("`{its}` and `{with}` would both be called `{name}`"),
        Unnamed::NoName | Unnamed::Hidden => format!("`{its}` cannot be a name here"),
    };
    let next = format!("give it one of a-z, 0-9 and _ by the table `tools` of [providers.{provider}]");
    Problem::new("/name", "bad-name", format!("{what}: {next}"))
}

/// Makes the executors of a tool, which its server calls `name`.
fn mcp_tool(link: &Link, name: String) -> Arc<MakeExecutor> {
    let tool = McpTool { link: link.clone(), name };
    Arc::new(move |definition: &Definition| executor(tool.clone(), tool.link.provider(), definition))
}

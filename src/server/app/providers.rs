//! Providers: their offers of names that they may own become tools of the registry, and late outcomes of their writes
//! replace the unknown ones that were recorded.

mod gated_tool;
mod intake;
mod late_outcomes;
mod mcp;
mod mcp_offers;
mod ownership;
mod trust;

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt};
use tokio::time::sleep;

use self::{
    gated_tool::{Gates, put_behind_gate},
    intake::{Intake, Proposal, effect},
    late_outcomes::LateOutcomes,
};
pub use self::{
    mcp::{McpServers, mcp_target},
    mcp_offers::setting_of_names,
    trust::as_accepted,
};
use crate::service::providers;
use toolwire_base::offload;
use toolwire_config::{Config, LOCAL_PROVIDER, Providers, is_provider_name};
use toolwire_contract::proto::host::v1 as wire;
use toolwire_engine::registry::{CacheScope, Definition, MakeExecutor, Registry};
use toolwire_hosts::{HostTool, Hub, Registrar};
use toolwire_providers::{
    LastVerdicts, RemoteExecutor, RemoteTool, ToolParts, Verdicts,
    ids::{CatalogueId, ProviderName},
    offer::{Author, Strictness},
};
use toolwire_sources::upstream::sources::Sources;
use toolwire_state::Store;
use toolwire_tool::Executor;

/// Changes that come within this time become one snapshot.
const JOINED: Duration = Duration::from_millis(50);

/// What connects to MCP servers, and the providers with the hub of their hosts.
pub(super) fn connectors(
    config: &Config,
    registry: &Arc<Registry>,
    state: &Arc<Store>,
    sources: &Sources,
) -> Result<(McpServers, providers::Providers), String> {
    refuse_shared_names(config, registry)?;
    let (gates, verdicts) = (Gates::new(sources), LastVerdicts::default());
    let mcp_servers = McpServers::new(config, registry, state, &gates, verdicts.clone())?;
    let hub = hub(config, registry, state, gates, verdicts.clone());
    Ok((mcp_servers, providers::Providers::new(&config.providers, hub, verdicts)))
}

/// The hosts of the configured providers, or of this machine.
fn hub(
    config: &Config,
    registry: &Arc<Registry>,
    state: &Arc<Store>,
    gates: Gates,
    verdicts: LastVerdicts,
) -> Hub {
    let registry = Arc::clone(registry);
    let offers = Offers {
        registry,
        providers: config.providers.clone(),
        gates,
        strictness: strictness(config),
        verdicts,
    };
    let late = Arc::new(LateOutcomes::new(Arc::clone(state), Arc::clone(&offers.registry)));
    let local = config.auth.is_open().then(|| LOCAL_PROVIDER.into());
    Hub::new(config.server.limits.max_work_streams, local, Arc::new(offers), late)
}

/// A provider is a source, which must not be a source of other tools too.
fn refuse_shared_names(config: &Config, registry: &Registry) -> Result<(), String> {
    let shared = config.providers.0.iter().find_map(|it| Some((it, tool_of_source(registry, &it.name)?)));
    match shared {
        None => Ok(()),
        Some((provider, tool)) => Err(format!(
            "providers.{} has the name of the source of the tool {tool}; give the provider another one",
            provider.name
        )),
    }
}

/// A tool of no provider whose source has this name.
fn tool_of_source(registry: &Registry, source: &str) -> Option<String> {
    let snapshot = registry.snapshot();
    let mut others = snapshot.tools().map(|tool| &tool.definition).filter(|it| it.provider().is_none());
    let is_of_source = |it: &&Definition| it.source.as_ref().is_some_and(|it| it.name == source);
    others.find(is_of_source).map(|it| it.name.to_string())
}

/// Without users only this machine is served, as a developer's.
fn strictness(config: &Config) -> Strictness {
    if config.auth.is_open() { Strictness::Lenient } else { Strictness::Strict }
}

/// Takes offers into the registry.
struct Offers {
    registry: Arc<Registry>,
    providers: Providers,
    gates: Gates,
    strictness: Strictness,
    verdicts: LastVerdicts,
}

impl Registrar for Offers {
    fn serve<'a>(
        &'a self,
        hub: &'a Hub,
        provider: &'a ProviderName,
        catalogue: &'a CatalogueId,
        offers: Vec<wire::Offer>,
    ) -> BoxFuture<'a, Verdicts> {
        let intake = Intake {
            registry: Arc::clone(&self.registry),
            provider: provider.clone(),
            floor: self.providers.floor(provider.as_str()),
            strictness: self.strictness,
            author: Author::Host,
        };
        let make = put_behind_gate(self.gates.get(provider.as_str()), host_tool(hub, provider, catalogue));
        let proposal = |offer| Proposal { offer, instead: None, make: Arc::clone(&make) };
        let proposals = offers.into_iter().map(proposal).collect();
        async move {
            let verdicts = take_over(intake, proposals).await;
            self.verdicts.replace(provider, &verdicts);
            verdicts
        }
        .boxed()
    }

    fn check_name(&self, provider: &ProviderName) -> Result<(), String> {
        let name = provider.as_str();
        if !is_provider_name(name) {
            return Err("a name is of a-z, 0-9, _ and -, at most 64 characters".to_owned());
        }
        if self.providers.0.iter().any(|it| it.name == name) {
            return Err(format!("[providers.{name}] has a token, which opens it; or take another name"));
        }
        if self.gates.is_of_domain(name) || tool_of_source(&self.registry, name).is_some() {
            return Err("a source of the server has this name; take another one".to_owned());
        }
        Ok(())
    }

    fn set_degraded(&self, provider: &ProviderName, reason: Option<String>) {
        self.registry.set_provider_degraded(provider.as_str(), reason);
    }

    fn withdraw(&self, provider: &ProviderName) {
        self.registry.withdraw(provider.as_str());
    }

    fn forget(&self, provider: &ProviderName) {
        self.gates.forget(provider.as_str());
        self.verdicts.forget(provider);
    }
}

/// Checks offers and serves what passes.
async fn take_over(intake: Intake, proposals: Vec<Proposal>) -> Verdicts {
    let (registry, provider) = (Arc::clone(&intake.registry), intake.provider.clone());
    // A thousand schemas take long.
    let verdicts = offload::run_alone(move || intake.take_over(proposals)).await.unwrap_or_else(|error| {
        tracing::error!(%provider, %error, "offers cannot be checked");
        Verdicts::default()
    });
    sleep(JOINED).await;
    // And so does a snapshot of thousands of tools.
    let _ = offload::run_alone(move || registry.publish_pending()).await;
    verdicts
}

/// Makes the executors of a catalogue.
fn host_tool(hub: &Hub, provider: &ProviderName, catalogue: &CatalogueId) -> Arc<MakeExecutor> {
    // Not the hub, which has the registry, which keeps this.
    let (pool, provider, catalogue) = (hub.pool().clone(), provider.clone(), catalogue.clone());
    Arc::new(move |definition: &Definition| {
        let digest = definition.digest.to_string();
        pool.define(&provider, &catalogue, &definition.name, &digest);
        let tool = HostTool {
            pool: pool.clone(),
            catalogue: catalogue.clone(),
            digest,
            is_shared: definition.cache.is_some_and(|it| it.scope == CacheScope::Shared),
        };
        executor(tool, &provider, definition)
    })
}

fn parts(provider: &ProviderName, definition: &Definition) -> ToolParts {
    ToolParts {
        provider: provider.clone(),
        tool: definition.name.clone(),
        effect: effect(definition),
        timeout: definition.timeout,
        input: Arc::clone(&definition.input_schema),
        output: Arc::clone(&definition.output_schema),
    }
}

/// What executes a tool as it is served.
fn executor<T: RemoteTool + 'static>(
    tool: T,
    provider: &ProviderName,
    definition: &Definition,
) -> Result<Arc<dyn Executor>, String> {
    RemoteExecutor::new(tool, parts(provider, definition)).map(|tool| Arc::new(tool) as Arc<dyn Executor>)
}

//! The providers of a user's tools, as this process knows them: their tools, the programs that are their hosts, and the
//! offers that are not served. Not here: their connections (`toolwire_hosts`, `toolwire_mcp`).

use std::{collections::BTreeSet, sync::Arc};

use super::{Filter, Tools};
use toolwire_config::{self as config, ProviderKind};
use toolwire_contract::proto::host::v1::Verdict;
use toolwire_engine::registry::{RegisteredTool, Status};
use toolwire_hosts::{HostInfo, Hub};
use toolwire_providers::LastVerdicts;
use toolwire_tool::context::User;

/// Providers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Providers {
    /// Those of the configuration: the name, and whether it is an MCP server.
    configured: Arc<[(String, bool)]>,
    hub: Hub,
    verdicts: LastVerdicts,
}

/// A provider for a user.
#[derive(Clone, Debug)]
pub struct ProviderStatus {
    pub name: String,
    pub is_mcp: bool,
    /// How many of its tools the user may call.
    pub tools: usize,
    /// Why some of them cannot be called, of the first of them.
    pub reason: Option<String>,
    pub hosts: Vec<HostInfo>,
    /// The offers of names that the user may call which are not served.
    pub refused: Vec<Verdict>,
}

impl Providers {
    pub fn new(configured: &config::Providers, hub: Hub, verdicts: LastVerdicts) -> Self {
        let of = |it: &config::ConfiguredProvider| (it.name.clone(), matches!(it.kind, ProviderKind::Mcp(_)));
        Self { configured: configured.0.iter().map(of).collect(), hub, verdicts }
    }

    /// The hosts of all providers.
    pub fn hub(&self) -> &Hub {
        &self.hub
    }
}

impl Tools {
    /// The providers in order of name: those with a tool or a refused offer that the user may call, and to a user who
    /// may call everything all that are configured.
    pub fn providers(&self, user: &User, known: &Providers) -> Vec<ProviderStatus> {
        let visibility = self.visibility(user.clone());
        let tools: Vec<_> = self.list(user, Filter::default()).collect();
        let of_tools = tools.iter().filter_map(|tool| tool.definition.provider()).map(str::to_owned);
        let of_hosts = known.hub.providers().into_iter().map(|name| name.to_string());
        let configured = known.configured.iter().map(|(name, _)| name.clone());
        let names: BTreeSet<_> = of_tools.chain(of_hosts).chain(configured).collect();
        let status = |name: String| {
            let is_of = |tool: &&Arc<RegisteredTool>| tool.definition.provider() == Some(name.as_str());
            let own: Vec<_> = tools.iter().filter(is_of).collect();
            let refused = known.verdicts.refused(&name).into_iter();
            let refused: Vec<_> = refused.filter(|it| visibility.may_call(&it.tool)).collect();
            let is_seen = visibility.is_whole || !own.is_empty() || !refused.is_empty();
            is_seen.then(|| ProviderStatus {
                is_mcp: known.configured.iter().any(|(it, is_mcp)| *it == name && *is_mcp),
                tools: own.len(),
                reason: own.iter().find_map(|tool| reason(&tool.definition.status)),
                hosts: known.hub.hosts(&name),
                refused,
                name,
            })
        };
        names.into_iter().filter_map(status).collect()
    }
}

fn reason(status: &Status) -> Option<String> {
    match status {
        Status::Ready => None,
        Status::Degraded(reason) | Status::Disabled(reason) => Some(reason.clone()),
    }
}

//! The providers of a user's tools, as this process knows them: their tools, the programs that are their hosts, and the
//! offers that are not served. Not here: their connections (`toolwire_hosts`, `toolwire_mcp`).

mod watch;

use std::{collections::BTreeMap, sync::Arc};

pub use self::watch::{ProviderChange, ProviderWatch};
use super::{Filter, Tools};
use toolwire_config::{self as config, ProviderKind, RuleTarget};
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
#[derive(Clone, Debug, PartialEq)]
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
    /// may call everything, or observe, all that are configured or have hosts.
    pub fn providers(&self, user: &User, known: &Providers) -> Vec<ProviderStatus> {
        let visibility = self.visibility(user.clone());
        let sees_all = visibility.is_whole || self.calls().observes(user);
        let of_hosts = known.hub.providers().into_iter().map(|name| name.to_string());
        let configured = known.configured.iter().map(|(name, _)| name.clone());
        let mut own: BTreeMap<_, Vec<_>> =
            of_hosts.chain(configured).map(|name| (name, Vec::new())).collect();
        for tool in self.list(user, Filter::default()) {
            if let Some(provider) = tool.definition.provider().map(str::to_owned) {
                own.entry(provider).or_default().push(tool);
            }
        }
        let status = |(name, own): (String, Vec<Arc<RegisteredTool>>)| {
            let mut refused = known
                .verdicts
                .refused(&name, |tool| sees_all || visibility.may_call(RuleTarget::named(tool)));
            if !sees_all {
                // A reason may name tools, patterns and providers that are not this user's.
                refused.iter_mut().flat_map(|it| &mut it.problems).for_each(|it| it.description.clear());
            }
            let configured = known.configured.iter().find(|(it, _)| *it == name);
            let is_theirs = !own.is_empty() || !refused.is_empty();
            let hosts = if is_theirs || sees_all { known.hub.hosts(&name) } else { Vec::new() };
            let is_seen = is_theirs || !hosts.is_empty() || (sees_all && configured.is_some());
            is_seen.then(|| ProviderStatus {
                is_mcp: configured.is_some_and(|(_, is_mcp)| *is_mcp),
                tools: own.len(),
                reason: own.iter().find_map(|tool| reason(&tool.definition.status)),
                hosts,
                refused,
                name,
            })
        };
        own.into_iter().filter_map(status).collect()
    }
}

fn reason(status: &Status) -> Option<String> {
    match status {
        Status::Ready => None,
        Status::Degraded(reason) | Status::Disabled(reason) => Some(reason.clone()),
    }
}

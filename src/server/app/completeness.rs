//! What tools lack: services that no domain offers, which start-up refuses, and manifests, which it reports.

use std::sync::Arc;

use crate::domain::Domain;
use toolwire_engine::registry::Snapshot;
use toolwire_tool::context::Services;

/// A tool needs a service that no domain offers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "tool {tool} needs the service {service}, which no domain offers; offer it in a domain's `open`, or remove the tool"
)]
pub struct MissingService {
    pub tool: String,
    pub service: &'static str,
}

/// The names of the tools of the domains that no manifest declares.
pub(super) fn manifests<'a>(domains: impl Iterator<Item = &'a Domain>, snapshot: &Snapshot) -> Arc<[String]> {
    let names = domains.flat_map(|domain| &domain.tools).map(|tool| tool.name());
    names.filter(|name| snapshot.get(name).is_none()).map(str::to_owned).collect()
}

/// What the tools of the domains need and do not find among the services of all. A tool without a manifest counts too:
/// a reload may bring the manifest.
pub(super) fn services<'a>(
    domains: impl Iterator<Item = &'a Domain>,
    services: &Services,
) -> Vec<MissingService> {
    let mut all = Vec::new();
    for executor in domains.flat_map(|domain| &domain.tools) {
        let required = executor.services();
        let missing = services.missing(&required);
        all.extend(missing.map(|service| MissingService { tool: executor.name().to_owned(), service }));
    }
    all
}

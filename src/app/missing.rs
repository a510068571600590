//! Services that tools declare and no domain offers. Reported at start, before the first call that would lack one.

use crate::{context::Services, domain::Domain};

/// A tool needs a service that no domain offers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "tool {tool} needs the service {service}, which no domain offers; offer it in a domain's `open`, or remove the tool"
)]
pub struct MissingService {
    /// The tool.
    pub tool: String,
    /// The type of the service.
    pub service: &'static str,
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

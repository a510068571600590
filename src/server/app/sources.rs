//! The sources of all domains, and the providers as sources: set up, and which of them take credentials of users.

use std::sync::Arc;

use super::StartError;
use crate::domain::Domain;
use toolwire_config::{Config, LOCAL_PROVIDER, ProviderLimits};
use toolwire_sources::upstream::{ProviderSpec, sources::Sources};
use toolwire_state::Store;

/// The sources for which users give credentials.
pub(super) fn users_sources(domains: &[Domain]) -> Arc<[&'static str]> {
    let all = domains.iter().flat_map(|domain| domain.sources.iter());
    all.filter(|source| source.takes_users_credentials).map(|source| source.name).collect()
}

/// The sources of all domains and the providers, set up.
pub(super) fn sources(
    config: &Config,
    domains: &[Domain],
    state: &Arc<Store>,
) -> Result<Sources, StartError> {
    let specs = domains.iter().flat_map(|domain| domain.sources.iter().copied()).collect();
    Sources::new(config.part(), specs, providers(config), &config.egress, state)
        .map_err(|error| StartError { domains: vec![error.into()], ..StartError::default() })
}

/// Without users, hosts of this machine are a provider too.
fn providers(config: &Config) -> Vec<ProviderSpec> {
    let configured = config.providers.0.iter();
    let mut providers: Vec<_> =
        configured.map(|it| ProviderSpec { name: it.name.clone(), limits: it.limits }).collect();
    if config.auth.is_open() {
        providers.push(ProviderSpec { name: LOCAL_PROVIDER.to_owned(), limits: ProviderLimits::default() });
    }
    providers
}

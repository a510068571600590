//! The sources of all domains: set up, and which of them take credentials of users.

use std::sync::Arc;

use super::StartError;
use crate::domain::Domain;
use toolwire_config::Config;
use toolwire_sources::upstream::sources::Sources;
use toolwire_store::Store;

/// The sources for which users give credentials.
pub(super) fn users_sources(domains: &[Domain]) -> Arc<[&'static str]> {
    let all = domains.iter().flat_map(|domain| domain.sources.iter());
    all.filter(|source| source.takes_users_credentials).map(|source| source.name).collect()
}

/// The sources of all domains, set up.
pub(super) fn sources(
    config: &Config,
    domains: &[Domain],
    state: &Arc<Store>,
) -> Result<Sources, StartError> {
    let specs = domains.iter().flat_map(|domain| domain.sources.iter().copied()).collect();
    Sources::new(config.part(), specs, state)
        .map_err(|error| StartError { domains: vec![error.into()], ..StartError::default() })
}

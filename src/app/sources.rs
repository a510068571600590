//! The sources of all domains: what can be set of them, set up, and which of them take credentials of users.

use std::{iter, sync::Arc};

use super::StartError;
use crate::{
    config::{Config, Section},
    domain::Domain,
    store::Sqlite,
    upstream::{settings, sources::Sources},
};

/// The sources for which users give credentials.
pub(super) fn users_sources(domains: &[Domain]) -> Arc<[&'static str]> {
    let all = domains.iter().flat_map(|domain| domain.sources.iter());
    all.filter(|source| source.takes_users_credentials).map(|source| source.name).collect()
}

/// The sources of all domains, set up.
pub(super) fn sources(
    config: &Config,
    domains: &[Domain],
    state: &Arc<Sqlite>,
) -> Result<Sources, StartError> {
    let specs = domains.iter().flat_map(|domain| domain.sources.iter().copied()).collect();
    Sources::new(config.part(), specs, state)
        .map_err(|error| StartError { domains: vec![error.into()], ..StartError::default() })
}

/// What can be set of the domains and their sources, for loading the configuration.
pub fn sections(domains: &[Domain]) -> Vec<Section> {
    let sources =
        |domain: &Domain| domain.sources.iter().map(|spec| (domain.name, *spec)).collect::<Vec<_>>();
    let of_domain =
        |domain: &Domain| domain.settings.iter().map(|it| it.clone().of(domain.name)).collect::<Vec<_>>();
    let of_sources = settings::section(domains.iter().flat_map(sources).collect());
    iter::once(of_sources).chain(domains.iter().flat_map(of_domain)).collect()
}

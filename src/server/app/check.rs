//! Problems of the data of all domains, for the linter. Not here: manifests.

use std::sync::Arc;

use super::{
    sources::sources,
    state::state,
    tree::{served_domains, tree},
};
use crate::domain::{Domain, Opening};
use toolwire_base::files::Problem;
use toolwire_config::Config;

/// What is wrong with the data of all domains, but for samples where none are offered.
pub fn check(config: &Config, domains: &[Domain]) -> Vec<Problem> {
    // Domains that take each other's names have no data to look at; start-up says so.
    let (Ok(tree), Ok(state)) = (tree(config, domains), state(&config.state, domains)) else {
        return Vec::new();
    };
    let state = Arc::new(state);
    let Ok(upstream) = sources(config, domains, &state) else { return Vec::new() };
    let all: Vec<_> = served_domains(domains, config).collect();
    let opening = Opening { config, tree: &tree, state: &state, upstream: &upstream, domains: &all };
    all.iter().flat_map(|domain| (domain.check)(&opening)).collect()
}

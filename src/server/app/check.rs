//! Problems of the data of all domains, for the linter. Not here: manifests.

use std::sync::Arc;

use super::{answers, sources::sources, state::state, tree};
use crate::domain::{Domain, Opening};
use toolwire_agent::prompts::Prompts;
use toolwire_base::files::{Problem, Problems};
use toolwire_config::Config;

/// What is wrong with the data of all domains.
pub fn check(config: &Config, domains: &[Domain]) -> Vec<Problem> {
    // Domains that take each other's names have no data to look at; start-up says so.
    let (Ok(tree), Ok(state)) = (tree(config, domains), state(&config.state, domains)) else {
        return Vec::new();
    };
    let state = Arc::new(state);
    let Ok(upstream) = sources(config, domains, &state) else { return Vec::new() };
    let opening = Opening { config, tree: &tree, state: &state, upstream: &upstream };
    let of_answers = answers::templates(&tree, domains.iter()).err();
    let of_answers = of_answers.into_iter().flat_map(|Problems(problems)| problems);
    let of_prompts = Prompts::open(tree.clone(), config.agent_roles.prompts()).err();
    let of_prompts = of_prompts.into_iter().flat_map(|Problems(problems)| problems);
    domains.iter().flat_map(|domain| (domain.check)(&opening)).chain(of_answers).chain(of_prompts).collect()
}

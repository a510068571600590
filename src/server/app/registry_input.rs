//! Gathers the tools of all domains. Not here: making definitions, which is the registry's.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use prost_reflect::DescriptorPool;

use super::conflicts;
use crate::domain::{Domain, Offer};
use toolwire_base::files::{Problems, Tree};
use toolwire_config::Config;
use toolwire_contract::descriptors;
use toolwire_engine::registry::{Manifests, OfDomain, RegistryInput};

/// Where manifests come from, what can execute them, and what they may name. Fails if two domains have one name, offer
/// a tool of one name, or define the same file or message differently.
pub fn gather(tree: &Tree, domains: &[Domain], config: &Config) -> Result<RegistryInput, Problems> {
    conflicts::refuse(domains)?;
    let mut manifests = Manifests::new(tree.clone());
    let (mut executors, mut choices, mut disabled) = (Vec::new(), Vec::new(), Vec::new());
    let mut of_domains = BTreeMap::new();
    let mut intent_parameters = BTreeSet::new();
    for domain in enabled_domains(domains, config) {
        // About the server rather than its data, so they do not come with the data.
        if domain.offer == Offer::WithDiagnostics {
            manifests = manifests.with(Tree::Embedded(domain.data.clone()), domain.name);
        }
        of_domains.extend(names(domain).map(|name| (name, of(domain))));
        executors.extend(domain.tools.iter().cloned());
        choices.extend((domain.choices)(config));
        disabled.extend((domain.disabled)(config));
        intent_parameters.extend(domain.intent_parameters);
    }
    let descriptors = descriptors_of(domains)?;
    let approve_unless = config.confirmations.approve_unless.clone();
    let floors = config.providers.0.iter().map(|it| (it.name.clone(), it.floor.clone())).collect();
    Ok(RegistryInput {
        manifests,
        executors,
        descriptors,
        choices,
        approve_unless,
        floors,
        disabled,
        domains: of_domains,
        intent_parameters,
    })
}

/// Domains by name, with their descriptor sets.
type Sets = Vec<(&'static str, &'static [u8])>;

/// The descriptors of the platform and of all domains. Those of the last domains are kept: a process that builds the
/// service several times merges them once.
fn descriptors_of(domains: &[Domain]) -> Result<DescriptorPool, Problems> {
    static LAST: Mutex<Option<(Sets, DescriptorPool)>> = Mutex::new(None);
    let sets: Sets = domains.iter().map(|domain| (domain.name, domain.descriptors)).collect();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, pool)) = last.as_ref().filter(|(of, _)| *of == sets) {
        return Ok(pool.clone());
    }
    let pool = descriptors::pool(sets.iter().copied())?;
    *last = Some((sets, pool.clone()));
    Ok(pool)
}

fn of(domain: &Domain) -> OfDomain {
    OfDomain { name: domain.name, is_sample: domain.offer == Offer::Sample }
}

/// The tools of a domain: those that it executes, and those that it only declares.
fn names(domain: &Domain) -> impl Iterator<Item = String> {
    let executed = domain.tools.iter().map(|tool| tool.name());
    let declared = domain.data.paths().filter_map(|path| {
        let (folder, file) = path.split_once('/')?;
        file.strip_suffix(".json").filter(|_| folder == "tools" || folder == domain.name)
    });
    executed.chain(declared).map(str::to_owned)
}

/// The domains that are offered: those of diagnostics only where they are switched on, and samples unless they are
/// switched off.
pub(super) fn enabled_domains<'a>(
    domains: &'a [Domain],
    config: &Config,
) -> impl Iterator<Item = &'a Domain> + Clone + use<'a> {
    let (diagnostics, samples) = (config.server.diagnostics, config.server.samples);
    domains.iter().filter(move |domain| match domain.offer {
        Offer::Always => true,
        Offer::Sample => samples,
        Offer::WithDiagnostics => diagnostics,
    })
}

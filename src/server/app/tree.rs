//! Where manifests and data are read from.

use std::time::Duration;

use crate::domain::{Domain, Offer};
use toolwire_base::files::{Embedded, PathTaken, Tree};
use toolwire_config::Config;

/// How often files on disk are looked at.
pub(super) const RELOAD_INTERVAL: Duration = Duration::from_millis(250);

/// The data tree of a configuration: its directory, or else what the domains embed, samples only where they are
/// offered. Two that embed a file of one path are refused in either case.
pub fn tree(config: &Config, domains: &[Domain]) -> Result<Tree, PathTaken> {
    let pair = |domain: &'_ Domain| (domain.name, domain.data.clone());
    let embedded = |pairs: Vec<(&'static str, Embedded)>| {
        Embedded::of_all(pairs.iter().map(|(name, data)| (*name, data)))
    };
    embedded(domains.iter().map(pair).collect())?;
    let offered = embedded(served_domains(domains, config).map(pair).collect())?;
    Ok(config.data.dir.clone().map_or(Tree::Embedded(offered), Tree::Disk))
}

/// The domains whose data are read: samples only where they are offered.
pub(super) fn served_domains<'a>(domains: &'a [Domain], config: &Config) -> impl Iterator<Item = &'a Domain> {
    let samples = config.server.samples;
    domains.iter().filter(move |domain| samples || domain.offer != Offer::Sample)
}

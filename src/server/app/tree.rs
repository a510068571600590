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
    let embedded = |samples: bool| {
        let domains = domains.iter().filter(|domain| samples || domain.offer != Offer::Sample);
        Embedded::of_all(domains.map(|domain| (domain.name, &domain.data)))
    };
    let all = embedded(true)?;
    let offered = if config.server.samples { all } else { embedded(false)? };
    Ok(config.data.dir.clone().map_or(Tree::Embedded(offered), Tree::Disk))
}

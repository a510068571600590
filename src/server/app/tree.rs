//! Where manifests and data are read from.

use std::time::Duration;

use crate::domain::Domain;
use toolwire_base::files::{Embedded, PathTaken, Tree};
use toolwire_config as config;

/// How often files on disk are looked at.
pub(super) const RELOAD_INTERVAL: Duration = Duration::from_millis(250);

/// The data tree of a configuration: its directory, or else what the domains embed. Two that embed a file of one path
/// are refused in either case.
pub fn tree(data: &config::Data, domains: &[Domain]) -> Result<Tree, PathTaken> {
    let embedded = Embedded::of_all(domains.iter().map(|domain| (domain.name, &domain.data)))?;
    Ok(data.dir.clone().map_or(Tree::Embedded(embedded), Tree::Disk))
}

//! Loads files and domains, or collects every problem of both. Not here: what is made of them.

use std::sync::Arc;

use super::{
    StartError, completeness, open,
    registry_input::{enabled_domains, gather},
    sources::sources,
};
use crate::{
    domain::{Domain, OpenError, Opened, Opening},
    faces::grpc::GrpcServices,
};
use toolwire_base::files::{Problems, Tree};
use toolwire_config::Config;
use toolwire_engine::{kept_results::KeptResults, registry::Registry};
use toolwire_sources::upstream::sources::Sources;
use toolwire_state::{Store, workspace::Workspace};

/// What files and domains give.
pub(super) struct Loaded {
    pub(super) registry: Arc<Registry>,
    pub(super) upstream: Sources,
    pub(super) opened: Opened,
    pub(super) grpc: GrpcServices,
}

/// Reads the files and opens the domains.
pub(super) fn load(
    config: &Config,
    domains: &[Domain],
    tree: &Tree,
    state: &Arc<Store>,
    workspace: &Workspace,
) -> Result<Loaded, StartError> {
    let input = gather(tree, domains, config);
    let descriptors = input.as_ref().map(|input| input.descriptors.clone()).ok();
    let registry = input.and_then(Registry::open);
    let upstream = sources(config, domains, state)?;
    let enabled: Vec<_> = enabled_domains(domains, config).collect();
    let opening = Opening { config, tree, state, upstream: &upstream, domains: &enabled };
    let (mut opened, grpc, failed) = open::open(&enabled, &opening);
    let (registry, failed) = join(registry, failed);
    let kept_results = Arc::new(KeptResults::new(state));
    opened.services = opened.services.with(Arc::new(workspace.clone())).with(kept_results);
    // Without every domain open nothing can be said of it.
    let missing = if failed.is_empty() {
        completeness::services(enabled_domains(domains, config), &opened.services)
    } else {
        Vec::new()
    };
    // Without the pool nothing can be said of services.
    let grpc = descriptors.map(|pool| GrpcServices::new(&pool, grpc, config.server.reflection));
    match (registry, grpc) {
        (Ok(registry), Some(Ok(grpc))) if failed.is_empty() && missing.is_empty() => {
            Ok(Loaded { registry: Arc::new(registry), upstream, opened, grpc })
        }
        (registry, grpc) => {
            let services = grpc.and_then(Result::err).unwrap_or_default();
            Err(StartError { manifests: registry.err(), domains: failed, services, missing })
        }
    }
}

/// Both, or all problems of both at once: the problems of files that domains read beside those of manifests, and why
/// domains cannot be opened for other reasons.
fn join(
    registry: Result<Registry, Problems>,
    failed: Vec<OpenError>,
) -> (Result<Registry, Problems>, Vec<OpenError>) {
    let (mut problems, mut others) = (Vec::new(), Vec::new());
    for error in failed {
        match error.downcast::<Problems>() {
            Ok(found) => problems.extend(found.0),
            Err(error) => others.push(error),
        }
    }
    let registry = match registry {
        registry if problems.is_empty() => registry,
        Ok(_) => Err(Problems(problems)),
        Err(Problems(of_manifests)) => Err(Problems([of_manifests, problems].concat())),
    };
    (registry, others)
}

//! Loads files and domains, or collects every problem of both. Not here: what is made of them.

use std::sync::Arc;

use super::{
    StartError, answers, missing,
    offered::{enabled_domains, gather},
    opened,
    sources::sources,
};
use crate::{
    domain::{Domain, Opened, Opening},
    faces::grpc::GrpcServices,
};
use toolwire_agent::{answer::embedded::Templates, prompts::Prompts};
use toolwire_base::files::Tree;
use toolwire_config::Config;
use toolwire_engine::{kept_results::KeptResults, registry::Registry};
use toolwire_sources::upstream::sources::Sources;
use toolwire_store::{Store, workspace::Workspace};

/// What files and domains give.
pub(super) struct Loaded {
    pub(super) registry: Arc<Registry>,
    pub(super) templates: Arc<Templates>,
    pub(super) prompts: Option<Arc<Prompts>>,
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
    let offered = gather(tree, domains, config);
    let descriptors = offered.as_ref().map(|offered| offered.descriptors.clone()).ok();
    let registry = offered.and_then(Registry::open);
    let (registry, templates, prompts) =
        answers::read(registry, tree, config, enabled_domains(domains, config));
    let upstream = sources(config, domains, state)?;
    let opening = Opening { config, tree, state, upstream: &upstream };
    let (mut opened, grpc, failed) = opened::open(&mut enabled_domains(domains, config), &opening);
    let kept_results = Arc::new(KeptResults::new(state));
    opened.services = opened.services.with(Arc::new(workspace.clone())).with(kept_results);
    // Without every domain open nothing can be said of it.
    let missing = if failed.is_empty() {
        missing::services(enabled_domains(domains, config), &opened.services)
    } else {
        Vec::new()
    };
    // Without the pool nothing can be said of services.
    let grpc = descriptors.map(|pool| GrpcServices::new(&pool, grpc, config.server.reflection));
    match (registry, grpc) {
        (Ok(registry), Some(Ok(grpc))) if failed.is_empty() && missing.is_empty() => {
            Ok(Loaded { registry: Arc::new(registry), templates, prompts, upstream, opened, grpc })
        }
        (registry, grpc) => {
            let services = grpc.and_then(Result::err).unwrap_or_default();
            Err(StartError { manifests: registry.err(), domains: failed, services, missing })
        }
    }
}

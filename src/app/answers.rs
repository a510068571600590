//! What the agent answers with: the templates and the typed contexts of all domains. Not here: the agent.

use std::sync::Arc;

use crate::{
    agent::{
        answer::embedded::{Embedded, Folder, Templates},
        ground::contexts::Contexts,
    },
    domain::Domain,
    files::{Problems, Tree},
    registry::Registry,
};

/// What the agent answers with.
#[derive(Clone, Debug)]
pub(super) struct Answers {
    /// Writes answers without a model.
    pub(super) answerer: Arc<Embedded>,
    /// What each result is about.
    pub(super) contexts: Contexts,
}

/// The templates of domains, or everything that is wrong with them.
pub(super) fn templates<'a>(
    tree: &Tree,
    domains: impl Iterator<Item = &'a Domain>,
) -> Result<Templates, Problems> {
    let folder = |domain: &Domain| Folder {
        domain: domain.name,
        embedded: domain.data.clone(),
        tools: domain.tools.iter().map(|tool| tool.name().to_owned()).collect(),
    };
    Templates::open(tree.clone(), domains.map(folder).collect())
}

/// What the agent answers with.
pub(super) fn of<'a>(templates: &Arc<Templates>, domains: impl Iterator<Item = &'a Domain>) -> Answers {
    Answers {
        answerer: Arc::new(Embedded::new(Arc::clone(templates))),
        contexts: Contexts::new(domains.filter_map(|domain| domain.contexts)),
    }
}

/// Both, or all problems of both at once.
pub(super) fn with(
    registry: Result<Registry, Problems>,
    templates: Result<Templates, Problems>,
) -> (Result<Registry, Problems>, Arc<Templates>) {
    match (registry, templates) {
        (registry, Ok(templates)) => (registry, Arc::new(templates)),
        (Ok(_), Err(problems)) => (Err(problems), Arc::default()),
        (Err(Problems(of_manifests)), Err(Problems(of_templates))) => {
            (Err(Problems([of_manifests, of_templates].concat())), Arc::default())
        }
    }
}

//! What the agent answers with: the templates and the typed contexts of all domains. Not here: the agent.

use std::sync::Arc;

use crate::domain::Domain;
use toolwire_agent::{
    answer::embedded::{Embedded, Folder, Templates},
    ground::contexts::Contexts,
    in_full::InFull,
    prompts::Prompts,
};
use toolwire_agent_api::Vocabulary;
use toolwire_base::files::{Problems, Tree};
use toolwire_config::Config;
use toolwire_engine::registry::{DataSource, Registry};

#[derive(Clone, Debug)]
pub(super) struct Answers {
    /// Writes answers without a model.
    pub(super) answerer: Arc<Embedded>,
    /// What each result is about.
    pub(super) contexts: Contexts,
    /// Tools that are called in the place of others.
    pub(super) in_full: InFull,
    /// The prompts for models, if one is used.
    pub(super) prompts: Option<Arc<Prompts>>,
}

/// The templates of domains, or everything that is wrong with them.
pub(super) fn templates<'a>(
    tree: &Tree,
    domains: impl Iterator<Item = &'a Domain>,
) -> Result<Arc<Templates>, Problems> {
    let folder = |domain: &Domain| Folder {
        domain: domain.name,
        embedded: domain.data.clone(),
        tools: domain.tools.iter().map(|tool| tool.name().to_owned()).collect(),
    };
    Templates::open(tree.clone(), domains.map(folder).collect()).map(Arc::new)
}

/// What the agent answers with.
pub(super) fn of<'a>(
    templates: &Arc<Templates>,
    prompts: Option<Arc<Prompts>>,
    domains: impl Iterator<Item = &'a Domain>,
) -> Answers {
    let vocabularies: Vec<_> = domains.filter_map(|domain| domain.parts.find::<Vocabulary>()).collect();
    Answers {
        prompts,
        answerer: Arc::new(Embedded::new(Arc::clone(templates))),
        contexts: Contexts::new(vocabularies.iter().filter_map(|it| it.contexts)),
        in_full: InFull::new(vocabularies.iter().flat_map(|it| it.in_chat.iter().copied())),
    }
}

/// The tools, the templates and, where a model is asked, the prompts; or everything that is wrong with any of them.
pub(super) fn read<'a>(
    registry: Result<Registry, Problems>,
    tree: &Tree,
    config: &Config,
    domains: impl Iterator<Item = &'a Domain>,
) -> (Result<Registry, Problems>, Arc<Templates>, Option<Arc<Prompts>>) {
    let open = || Prompts::open(tree.clone(), config.agent_roles.prompts()).map(Arc::new);
    let prompts = config.agent_model.asks().then(open);
    let (registry, templates) = with(registry, templates(tree, domains));
    let (registry, prompts) = with(registry, prompts.transpose());
    (registry, templates, prompts)
}

impl Answers {
    /// The files that it is made from, which are looked at again.
    pub(super) fn files(&self, templates: Arc<Templates>) -> impl Iterator<Item = Arc<dyn DataSource>> {
        let prompts = self.prompts.clone().map(|prompts| prompts as _);
        std::iter::once(templates as _).chain(prompts)
    }
}

/// Both, or all problems of both at once: the second's files are checked even if the first's are wrong.
fn with<T: Default>(
    registry: Result<Registry, Problems>,
    files: Result<T, Problems>,
) -> (Result<Registry, Problems>, T) {
    match (registry, files) {
        (registry, Ok(files)) => (registry, files),
        (Ok(_), Err(problems)) => (Err(problems), T::default()),
        (Err(Problems(of_manifests)), Err(Problems(of_files))) => {
            (Err(Problems([of_manifests, of_files].concat())), T::default())
        }
    }
}

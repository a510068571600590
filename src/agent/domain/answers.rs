//! What the agent answers with: the templates, the typed contexts, the words and names of all domains, and the prompts
//! for models. Not here: the agent.

use std::sync::Arc;

use super::lexicons;
use crate::{
    answer::embedded::{Embedded, Folder, Templates},
    fuller_tools::FullerTools,
    ground::contexts::Contexts,
    prompts::Prompts,
};
use toolwire_agent_api::Vocabulary;
use toolwire_base::files::Problems;
use toolwire_engine::registry::DataSource;
use toolwire_planner::{Lexicon, Names, Offers};
use toolwire_server::domain::{Domain, Opening};
use toolwire_tool::context::Services;

#[derive(Clone, Debug)]
pub(super) struct Answers {
    templates: Arc<Templates>,
    /// What each result is about.
    pub(super) contexts: Contexts,
    /// Tools that are called in the place of others.
    pub(super) fuller_tools: FullerTools,
    /// The prompts for models, if one is used.
    pub(super) prompts: Option<Arc<Prompts>>,
    lexicons: Vec<Lexicon>,
    vocabularies: Vec<Arc<Vocabulary>>,
}

/// The templates of domains, or everything that is wrong with them.
pub(super) fn templates(opening: &Opening<'_>) -> Result<Arc<Templates>, Problems> {
    let folder = |domain: &&Domain| Folder {
        domain: domain.name,
        embedded: domain.data.clone(),
        tools: domain.tools.iter().map(|tool| tool.name().to_owned()).collect(),
    };
    Templates::open(opening.tree.clone(), opening.domains.iter().map(folder).collect()).map(Arc::new)
}

impl Answers {
    /// The templates, the lexicons and, where a model is asked, the prompts; or everything that is wrong with any of
    /// them.
    pub(super) fn open(opening: &Opening<'_>) -> Result<Self, Problems> {
        let Opening { config, tree, domains, .. } = opening;
        let open = || Prompts::open((*tree).clone(), config.agent_roles.prompts()).map(Arc::new);
        let prompts = config.agent_model.asks().then(open).transpose();
        let vocabularies: Vec<_> =
            domains.iter().filter_map(|domain| domain.parts.find::<Vocabulary>()).collect();
        match (templates(opening), prompts, lexicons::read(domains)) {
            (Ok(templates), Ok(prompts), Ok(lexicons)) => Ok(Self {
                templates,
                contexts: Contexts::new(vocabularies.iter().filter_map(|it| it.contexts)),
                fuller_tools: FullerTools::new(vocabularies.iter().flat_map(|it| it.in_chat.iter().copied())),
                prompts,
                lexicons,
                vocabularies,
            }),
            (templates, prompts, lexicons) => {
                let all = [templates.err(), prompts.err(), lexicons.err()].into_iter().flatten();
                Err(Problems(all.flat_map(|Problems(problems)| problems).collect()))
            }
        }
    }

    /// Writes answers without a model.
    pub(super) fn answerer(&self) -> Arc<Embedded> {
        Arc::new(Embedded::new(Arc::clone(&self.templates)))
    }

    /// The offer of a conversation's turns: which tools depends on the user. `services` are what names are made from.
    pub(super) fn offers(&self, services: &Services) -> Result<Arc<Offers>, Problems> {
        let names = |vocabulary: &Arc<Vocabulary>| -> Vec<Arc<dyn Names>> { (vocabulary.names)(services) };
        let names = self.vocabularies.iter().flat_map(names).collect();
        Ok(Arc::new(Offers::new(&self.lexicons, names)?))
    }

    /// The files that it is made from, which are looked at again.
    pub(super) fn files(&self) -> Vec<Arc<dyn DataSource>> {
        let prompts = self.prompts.clone().map(|prompts| prompts as _);
        std::iter::once(Arc::clone(&self.templates) as _).chain(prompts).collect()
    }
}

//! The offer of a conversation's turns: the words and names of all domains. Not here: which tools, which depends on the
//! user.

use std::sync::Arc;

use crate::domain::Domain;
use toolwire_agent_api::Vocabulary;
use toolwire_base::files::Problems;
use toolwire_planner::{Lexicon, Offers};
use toolwire_tool::context::Services;

/// The words and names of the given domains, or everything that is wrong with a lexicon. Names are made from services.
pub(super) fn offers<'a>(
    domains: impl Iterator<Item = &'a Domain>,
    services: &Services,
) -> Result<Arc<Offers>, Problems> {
    let (mut lexicons, mut names) = (Vec::new(), Vec::new());
    for domain in domains {
        let Some(vocabulary) = domain.parts.find::<Vocabulary>() else { continue };
        let file = || format!("{}/lexicon.json", domain.name);
        lexicons.extend(vocabulary.lexicon.map(|text| Lexicon { file: file(), text }));
        names.extend((vocabulary.names)(services));
    }
    Ok(Arc::new(Offers::new(&lexicons, names)?))
}

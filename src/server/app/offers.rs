//! The offer of a conversation's turns: the words and names of all domains. Not here: which tools, which depends on the
//! user.

use std::sync::Arc;

use crate::domain::Domain;
use toolwire_base::files::Problems;
use toolwire_planner::{Lexicon, Names, Offers};

/// The words and names of the given domains, or everything that is wrong with a lexicon.
pub(super) fn offers<'a>(
    domains: impl Iterator<Item = &'a Domain>,
    names: Vec<Arc<dyn Names>>,
) -> Result<Arc<Offers>, Problems> {
    let lexicon = |domain: &Domain| {
        let text = domain.lexicon?;
        Some(Lexicon { file: format!("{}/lexicon.json", domain.name), text })
    };
    let lexicons: Vec<_> = domains.filter_map(lexicon).collect();
    Ok(Arc::new(Offers::new(&lexicons, names)?))
}

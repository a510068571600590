//! The words of all domains. Not here: the offer of tools that is made with them.

use toolwire_agent_api::Vocabulary;
use toolwire_base::files::Problems;
use toolwire_planner::{Lexicon, Offers};
use toolwire_server::domain::Domain;

/// The lexicons of the given domains, or everything that is wrong with one.
pub(super) fn read(domains: &[&Domain]) -> Result<Vec<Lexicon>, Problems> {
    let lexicon = |domain: &&Domain| {
        let text = domain.parts.find::<Vocabulary>()?.lexicon?;
        Some(Lexicon { file: format!("{}/lexicon.json", domain.name), text })
    };
    let lexicons: Vec<_> = domains.iter().filter_map(lexicon).collect();
    Offers::new(&lexicons, Vec::new())?;
    Ok(lexicons)
}

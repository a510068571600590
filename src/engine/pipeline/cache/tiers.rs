//! The tiers: one store for each lifetime of results.

use std::sync::Arc;

use crate::registry::CacheTier;
use toolwire_state::{MemoryResults, results::Results};

/// The stores of results by tier. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Tiers {
    pub request: Arc<dyn Results>,
    pub session: Arc<dyn Results>,
    pub persistent: Arc<dyn Results>,
}

impl Tiers {
    /// All three in memory: results of the persistent tier are lost when the process ends.
    pub fn in_memory() -> Self {
        let memory = || Arc::new(MemoryResults::default()) as Arc<dyn Results>;
        Self { request: memory(), session: memory(), persistent: memory() }
    }

    pub(super) fn of(&self, tier: CacheTier) -> &Arc<dyn Results> {
        match tier {
            CacheTier::Request => &self.request,
            CacheTier::Session => &self.session,
            CacheTier::Persistent => &self.persistent,
        }
    }
}

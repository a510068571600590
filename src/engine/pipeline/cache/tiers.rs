//! The tiers: a store for each length of time that results are kept (spec 004 §6.2).

use std::sync::Arc;

use crate::registry::CacheTier;
use toolwire_store::{MemoryResults, results::Results};

/// Where results are kept. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Tiers {
    /// That of [`CacheTier::Request`].
    pub request: Arc<dyn Results>,
    /// That of [`CacheTier::Session`].
    pub session: Arc<dyn Results>,
    /// That of [`CacheTier::Persistent`].
    pub persistent: Arc<dyn Results>,
}

impl Tiers {
    /// All three in memory: the persistent one then lasts as long as the process.
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

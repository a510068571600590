//! The bounds on streams: each counts against that of its provider, and that of all.

use super::Pool;
use crate::{bounds::MAX_SLOTS_OF_PROVIDER, end::End};
use toolwire_providers::ids::ProviderName;

/// A stream that counts against the bounds, until it is dropped.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    pool: Pool,
    provider: ProviderName,
}

impl Pool {
    /// Counts a new stream of a provider against the bounds.
    pub(crate) fn admit(&self, provider: &ProviderName) -> Result<StreamPermit, End> {
        let mut state = self.lock();
        let (all, most) = (state.streams, state.max_streams);
        let of_provider = state.providers.entry(provider.clone()).or_default();
        if all >= most || of_provider.streams >= MAX_SLOTS_OF_PROVIDER {
            return Err(End::TooManySlots(most));
        }
        of_provider.streams += 1;
        state.streams += 1;
        Ok(StreamPermit { pool: self.clone(), provider: provider.clone() })
    }
}

impl StreamPermit {
    /// Counts as one of another provider from here on.
    pub(crate) fn move_to(&mut self, provider: &ProviderName) -> Result<(), End> {
        let mut state = self.pool.lock();
        let most = state.max_streams;
        let of_new = state.providers.entry(provider.clone()).or_default();
        if of_new.streams >= MAX_SLOTS_OF_PROVIDER {
            return Err(End::TooManySlots(most));
        }
        of_new.streams += 1;
        if let Some(before) = state.providers.get_mut(&self.provider) {
            before.streams -= 1;
        }
        self.provider = provider.clone();
        Ok(())
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.streams -= 1;
        if let Some(provider) = state.providers.get_mut(&self.provider) {
            provider.streams -= 1;
        }
    }
}

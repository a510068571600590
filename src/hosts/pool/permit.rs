//! The bounds on streams: each counts against that of its provider, and that of all.

use super::Pool;
use crate::{bounds::MAX_SLOTS_OF_PROVIDER, end::End};
use toolwire_providers::ids::ProviderName;

/// A stream that counts against the bounds, until it is dropped.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    pool: Pool,
    /// `None` until it is known whose it is.
    provider: Option<ProviderName>,
}

impl Pool {
    /// Counts a new stream against the bound of all.
    pub(crate) fn open(&self) -> Result<StreamPermit, End> {
        let mut state = self.lock();
        if state.streams >= state.max_streams {
            return Err(End::TooManySlots(state.max_streams));
        }
        state.streams += 1;
        Ok(StreamPermit { pool: self.clone(), provider: None })
    }

    /// Counts a new stream of a provider against both bounds.
    pub(crate) fn admit(&self, provider: &ProviderName) -> Result<StreamPermit, End> {
        let mut permit = self.open()?;
        permit.count_for(provider)?;
        Ok(permit)
    }

    /// Forgets a provider that has no stream and no call. Returns whether that is so.
    pub(crate) fn forget(&self, provider: &ProviderName) -> bool {
        let mut state = self.lock();
        let Some(known) = state.providers.get(provider) else { return true };
        let is_unused = known.streams == 0 && known.slots.is_empty() && known.calls.is_unused();
        if is_unused {
            state.providers.remove(provider);
        }
        is_unused
    }
}

impl StreamPermit {
    /// Counts as one of this provider from here on, unless it counts as one already.
    pub(crate) fn count_for(&mut self, provider: &ProviderName) -> Result<(), End> {
        if self.provider.is_some() {
            return Ok(());
        }
        let mut state = self.pool.lock();
        let most = state.max_streams;
        let of_provider = state.providers.entry(provider.clone()).or_default();
        if of_provider.streams >= MAX_SLOTS_OF_PROVIDER {
            return Err(End::TooManySlots(most));
        }
        of_provider.streams += 1;
        self.provider = Some(provider.clone());
        Ok(())
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut state = self.pool.lock();
        state.streams -= 1;
        if let Some(provider) = &self.provider
            && let Some(provider) = state.providers.get_mut(provider)
        {
            provider.streams -= 1;
        }
    }
}

//! The connections of one peer, and which of them is closed in favour of a newer one at the peer's limit.

use std::{collections::BTreeMap, sync::Arc};

use super::connection_state::ConnectionState;

#[derive(Debug, Default)]
pub(super) struct PeerConnections {
    /// The number of connections that count against the limit.
    pub(super) count: usize,
    /// Connections that had sent no request when they were last examined, in order of arrival.
    without_request: BTreeMap<u64, Arc<ConnectionState>>,
}

/// The result of requesting a slot of the peer's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grant {
    Free,
    /// The slot of an older connection, which is closed.
    Replaced,
    /// No slot.
    None,
}

impl PeerConnections {
    /// A slot for a connection: at the limit that of the peer's oldest connection that never sent a request.
    pub(super) fn take(&mut self, key: u64, state: &Arc<ConnectionState>, most: usize) -> Grant {
        let grant = match self.count < most {
            true => Grant::Free,
            false if self.replace_without_request() => Grant::Replaced,
            false => return Grant::None,
        };
        self.count += usize::from(grant == Grant::Free);
        self.without_request.insert(key, Arc::clone(state));
        grant
    }

    /// Closes the oldest connection that never sent a request. Returns whether there was one. A connection that has
    /// sent one is dropped from the list, so each is examined once.
    fn replace_without_request(&mut self) -> bool {
        while let Some((_, state)) = self.without_request.pop_first() {
            if !state.has_sent_request() {
                state.replace();
                return true;
            }
        }
        false
    }

    /// Removes a connection that has ended.
    pub(super) fn leave(&mut self, key: u64, state: &ConnectionState) {
        self.without_request.remove(&key);
        // The slot of a replaced connection belongs to the newer one.
        self.count -= usize::from(!state.is_replaced());
    }
}

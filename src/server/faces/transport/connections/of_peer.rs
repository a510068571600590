//! The connections of one peer, and which of them is closed in favour of a newer one at the peer's limit.

use std::{collections::BTreeMap, sync::Arc};

use super::known::Known;

#[derive(Debug, Default)]
pub(super) struct OfPeer {
    /// How many count against the limit.
    pub(super) count: usize,
    /// Connections that had sent no request when they were last looked at, in the order of their arrival.
    unasked: BTreeMap<u64, Arc<Known>>,
}

/// How a connection got its slot of the peer's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    Free,
    /// The slot of an older connection, which is closed.
    Replaced,
    /// No slot.
    None,
}

impl OfPeer {
    /// A slot for a connection: at the limit that of the peer's oldest connection that never sent a request.
    pub(super) fn take(&mut self, key: u64, known: &Arc<Known>, most: usize) -> Share {
        let share = match self.count < most {
            true => Share::Free,
            false if self.replace_unasked() => Share::Replaced,
            false => return Share::None,
        };
        self.count += usize::from(share == Share::Free);
        self.unasked.insert(key, Arc::clone(known));
        share
    }

    /// Closes the oldest connection that never sent a request. Returns whether there was one. A connection that has
    /// sent one is dropped from the list, so each is looked at once.
    fn replace_unasked(&mut self) -> bool {
        while let Some((_, known)) = self.unasked.pop_first() {
            if !known.has_asked() {
                known.replace();
                return true;
            }
        }
        false
    }

    /// Removes a connection that has ended.
    pub(super) fn leave(&mut self, key: u64, known: &Known) {
        self.unasked.remove(&key);
        // The slot of a replaced connection belongs to the newer one.
        self.count -= usize::from(!known.is_replaced());
    }
}

//! The connections of one peer, and which of them gives up its share for a newer one.

use std::{collections::BTreeMap, sync::Arc};

use super::known::Known;

/// The connections of one peer.
#[derive(Debug, Default)]
pub(super) struct OfPeer {
    /// Those that count against its share.
    pub(super) count: usize,
    /// Those that had sent no request when they were last looked at, in the order in which they came.
    unasked: BTreeMap<u64, Arc<Known>>,
}

/// What a connection gets of its peer's share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// Some of what is free.
    Free,
    /// That of an older connection, which is closed.
    Replaced,
    /// Nothing.
    None,
}

impl OfPeer {
    /// A share for a connection. At the bound it is that of the peer's oldest connection without any request.
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

    /// Closes the oldest connection that never sent a request, so that its place is another's. Whether there was one.
    /// A connection that has sent one never counts as silent here again, so each is passed over once.
    fn replace_unasked(&mut self) -> bool {
        while let Some((_, known)) = self.unasked.pop_first() {
            if !known.has_asked() {
                known.replace();
                return true;
            }
        }
        false
    }

    /// A connection has ended.
    pub(super) fn leave(&mut self, key: u64, known: &Known) {
        self.unasked.remove(&key);
        // The share of a connection that was replaced is the newer one's.
        self.count -= usize::from(!known.is_replaced());
    }
}

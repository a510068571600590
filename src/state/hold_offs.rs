//! Hold-offs: until when a source, or a part of one, asked clients to pause requests. The processes of one machine
//! share them.
//!
//! Not here: cool-downs, which follow refusals that a retry would not resolve.

mod memory;
pub(crate) mod rows;
mod write_through;

pub use self::{memory::MemoryHoldOffs, write_through::RememberedHoldOffs};

use std::{fmt::Debug, time::SystemTime};

use futures_util::future::BoxFuture;

use toolwire_base::clock;
use toolwire_db::StoreError;

/// A pause that a source asked for, and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldOff {
    /// The source's reason, as a sentence.
    pub reason: String,
    /// When requests may be sent again.
    pub until: SystemTime,
}

/// A store of hold-offs. The name of a part is `<source>/<part>`.
pub trait HoldOffs: Send + Sync + Debug {
    /// The time by the clock of the store.
    fn now(&self) -> SystemTime {
        clock::wall()
    }
    /// The hold-offs in force at the given time, of the source and of its parts, in order of name.
    fn of_source<'a>(
        &'a self,
        source: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(String, HoldOff)>, StoreError>>;
    /// Begins a hold-off. It never shortens an earlier one of the same name.
    fn begin<'a>(&'a self, name: &'a str, hold_off: &'a HoldOff) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// Whether a name denotes the source or a part of it.
pub(super) fn is_of_source(name: &str, source: &str) -> bool {
    name.strip_prefix(source).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

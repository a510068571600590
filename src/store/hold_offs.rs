//! Hold-offs: until when a source, or a part of one, asked to be left alone for a while. The processes of one machine
//! share them.
//!
//! Not here: cool-downs, which are for refusals that waiting does not end.

use std::{fmt::Debug, time::SystemTime};

use futures_util::future::BoxFuture;

use super::StoreError;

/// Why and until when nothing is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldOff {
    /// What the source said, in a sentence.
    pub reason: String,
    /// When it may be asked again.
    pub until: SystemTime,
}

/// Remembers hold-offs. The name of a part is `<source>/<part>`.
pub trait HoldOffs: Send + Sync + Debug {
    /// Those in force at the given time: of the source and of its parts, with their names, in order of name.
    fn of_source<'a>(
        &'a self,
        source: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(String, HoldOff)>, StoreError>>;
    /// Begins one of a source or a part; an earlier one of the same name ends no sooner than before.
    fn begin<'a>(&'a self, name: &'a str, hold_off: &'a HoldOff) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// Whether a name is that of the source or of a part of it.
pub(super) fn is_of_source(name: &str, source: &str) -> bool {
    name.strip_prefix(source).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

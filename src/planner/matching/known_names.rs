//! The names of a user, to be found in any text: what stands in an answer, with all names of the same thing. Not here:
//! names in messages, which may be mistyped.

use std::{ops::Range, sync::Arc};

use super::names::{ACCOUNT, NameIndex, NameMatch};
use crate::names::Name;

/// The names of a user, to be found in any text.
#[derive(Clone, Debug)]
pub struct KnownNames(pub(crate) Arc<NameIndex>);

/// A name that stands in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownName<'a> {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    /// All names of what it may mean, with what tools take for it.
    pub names: Vec<&'a str>,
    /// Whether it is an ordinary word too.
    pub is_a_word: bool,
}

impl KnownNames {
    pub fn new(names: Vec<Name>) -> Self {
        Self(Arc::new(NameIndex::new(names)))
    }

    /// The names that stand in a text as whole words, in order. Accounts are none.
    pub fn find(&self, text: &str) -> Vec<KnownName<'_>> {
        let found = self.0.find_known(text).into_iter().filter(|found| !found.is_of(ACCOUNT));
        found.map(|found| self.with_names(&found, text)).collect()
    }

    fn with_names(&self, found: &NameMatch, text: &str) -> KnownName<'_> {
        let is_meant =
            |name: &&Name| found.meanings.iter().any(|(of, value)| *of == name.of && *value == name.value);
        let meant: Vec<_> = self.0.names.iter().filter(is_meant).collect();
        let said = &text[found.begin..found.end];
        KnownName {
            range: found.begin..found.end,
            is_a_word: meant.iter().any(|name| name.is_a_word && name.text == said),
            names: meant.iter().flat_map(|name| [name.text.as_str(), name.value.as_str()]).collect(),
        }
    }
}

impl Default for KnownNames {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

//! What differs between two readings of things that have names, in words for the log.

use std::collections::{BTreeMap, BTreeSet};

/// Names what was added, changed and removed, in order of name.
pub(super) fn differences<T: PartialEq>(
    what: &str,
    now: &BTreeMap<String, T>,
    before: &BTreeMap<String, T>,
) -> Vec<String> {
    let names: BTreeSet<_> = now.keys().chain(before.keys()).collect();
    let difference = |name: &String| {
        let how = match (now.get(name), before.get(name)) {
            (now, before) if now == before => return None,
            (_, None) => "added",
            (None, _) => "removed",
            _ => "changed",
        };
        Some(format!("{what} {how}: {name}"))
    };
    names.into_iter().filter_map(difference).collect()
}

//! What every file of the crate owes its reader.

use std::path::Path;

use crate::{findings::Finding, tree::Tree};

/// What ends like a participle and is a noun, or one half of a term that the tree has: an embedded source, a nested
/// call, a scripted model.
const NAMES: [&str; 4] = ["embedded", "feed", "nested", "scripted"];

/// Participles that end otherwise, and adverbs.
const OTHER_NAMES: [&str; 20] = [
    "away",
    "begun",
    "broken",
    "done",
    "elsewhere",
    "forbidden",
    "found",
    "given",
    "gone",
    "hidden",
    "kept",
    "late",
    "left",
    "lost",
    "made",
    "seen",
    "shown",
    "taken",
    "unsent",
    "written",
];

/// Files that do not begin by saying what they are.
pub(crate) fn silent(tree: &Tree) -> Vec<Finding> {
    let silent = tree.sources().filter(|file| !file.text.starts_with("//! "));
    silent.map(|file| Finding::new(&file.path, "does not begin with //!")).collect()
}

/// Files that are named by a participle or an adverb alone, and so not after what is in them.
pub(crate) fn named_by_participles(tree: &Tree) -> Vec<Finding> {
    let is_participle = |name: &str| {
        OTHER_NAMES.contains(&name) || name.ends_with("ed") && !name.contains('_') && !NAMES.contains(&name)
    };
    let found = tree.sources().filter(|file| {
        Path::new(&file.path).file_stem().and_then(|name| name.to_str()).is_some_and(is_participle)
    });
    found.map(|file| Finding::new(&file.path, "is to be named after what it is")).collect()
}

/// Files that are not named after their module.
pub(crate) fn mod_files(tree: &Tree) -> Vec<Finding> {
    let found = tree.sources().filter(|file| file.path.ends_with("/mod.rs"));
    found.map(|file| Finding::new(&file.path, "is to be named after its module")).collect()
}

//! What every file of the crate owes its reader.

use crate::{findings::Finding, tree::Tree};

/// Files that do not begin by saying what they are.
pub(crate) fn silent(tree: &Tree) -> Vec<Finding> {
    let silent = tree.sources().filter(|file| !file.text.starts_with("//! "));
    silent.map(|file| Finding::new(&file.path, "does not begin with //!")).collect()
}

/// Files that are not named after their module.
pub(crate) fn mod_files(tree: &Tree) -> Vec<Finding> {
    let found = tree.sources().filter(|file| file.path.ends_with("/mod.rs"));
    found.map(|file| Finding::new(&file.path, "is to be named after its module")).collect()
}

//! Which crate runs JSON Schemas: `src/schema`, within bounds. The library has none.

use crate::{findings::Finding, tree::Tree};

const RUNS_SCHEMAS: &str = "src/schema/";

/// Files of the program that use the library beside that crate.
pub(crate) fn run_elsewhere(tree: &Tree) -> Vec<Finding> {
    let others = tree.sources().filter(|file| !file.path.starts_with(RUNS_SCHEMAS));
    let uses = |text: &str| {
        text.lines().any(|line| !line.trim_start().starts_with("//") && line.contains("jsonschema::"))
    };
    let found = others.filter(|file| uses(&file.text));
    found
        .map(|file| Finding::new(&file.path, "uses jsonschema: take toolwire_schema, which is bounded"))
        .collect()
}

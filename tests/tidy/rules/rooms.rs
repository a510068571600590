//! The rooms of the house: who may import whom.

use std::collections::BTreeSet;

use crate::{
    edges::{Edges, circles, rooms},
    findings::Finding,
    reading::Crate,
    tree::Tree,
};

/// From top to bottom. A room imports from its own row and the rows below it.
const HOUSE: &[&[&str]] = &[
    &["domains"],
    &["cli"],
    &["app"],
    &["domain"],
    &["faces"],
    &["service"],
    &["agent", "exports"],
    &["tasks", "workspace"],
    &["pipeline"],
    &["registry"],
    &["tool"],
    &["models", "upstream"],
    &["client", "config", "single_flight", "store"],
    &["context"],
    &["contract"],
    &["clock", "console", "digest", "duration", "files", "offload", "telemetry", "tokens", "turns", "words"],
];

/// Rooms that have no place in the house.
pub(crate) fn unknown(tree: &Tree) -> Vec<Finding> {
    let rooms = tree.sources().filter_map(|file| file.room()).collect::<BTreeSet<_>>();
    let unknown = rooms.into_iter().filter(|room| row(room).is_none());
    unknown.map(|room| Finding::new(room, "has no row in HOUSE")).collect()
}

/// Imports from a row above, by code or by tests.
pub(crate) fn upward(all: &Crate) -> Vec<Finding> {
    let found = edges(all).into_iter().flat_map(|((from, to), files)| {
        let upward = row(&to) < row(&from);
        files
            .into_iter()
            .filter(move |_| upward)
            .map(move |file| Finding::new(&format!("{file} imports {to}"), &format!("{to} is above {from}")))
    });
    found.collect()
}

/// Rooms that import each other.
pub(crate) fn in_circles(all: &Crate) -> Vec<Finding> {
    let circles = circles(&edges(all)).into_iter().flatten();
    circles
        .map(|(room, stands_on)| Finding::new(&room, &format!("stands on {}", stands_on.join("; "))))
        .collect()
}

/// Which room stands on which, and the files that make it so.
fn edges(all: &Crate) -> Edges<String> {
    let mut edges = Edges::new();
    for reference in &all.references {
        let Some(from) = reference.scope.first() else { continue };
        for to in rooms(all, reference).into_iter().filter(|to| to != from && row(to).is_some()) {
            let files = edges.entry((from.clone(), to)).or_insert_with(BTreeSet::new);
            files.insert(reference.part.file.clone());
        }
    }
    edges
}

fn row(room: &str) -> Option<usize> {
    HOUSE.iter().position(|row| row.contains(&room))
}

//! Which part of a file stands on which, and which room on which; and the circles among them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
};

use petgraph::{algo::tarjan_scc, graphmap::DiGraphMap};

use crate::{
    names::{Part, Target, resolve},
    reading::{Crate, Reference, ReferenceKind},
};

/// Who stands on whom, and by which names.
pub(crate) type Edges<T> = BTreeMap<(T, T), BTreeSet<String>>;

/// What a part of a file stands on: where the names that it uses are defined.
pub(crate) fn between_parts(all: &Crate) -> Edges<Part> {
    let mut edges = Edges::new();
    for reference in all.references.iter().filter(|reference| reference.kind != ReferenceKind::ReExport) {
        let Some(target) = resolve(&all.names, &reference.scope, &reference.path) else { continue };
        let module = match target {
            Target::ItemOf(module) => module,
            Target::Module(module) if reference.kind == ReferenceKind::Text => module,
            Target::Module(_) => continue,
        };
        let part = all.names[&module].part.clone();
        if part.file != reference.part.file {
            let names = edges.entry((reference.part.clone(), part)).or_insert_with(BTreeSet::new);
            names.insert(reference.path.join("::"));
        }
    }
    edges
}

/// Which rooms a reference leads to: the one it names, and the one that defines what it names.
pub(crate) fn rooms(all: &Crate, reference: &Reference) -> BTreeSet<String> {
    let named = match reference.path.first() {
        Some(first) if first == "crate" => reference.path.get(1).cloned(),
        _ => None,
    };
    let defined = match resolve(&all.names, &reference.scope, &reference.path) {
        Some(Target::Module(module) | Target::ItemOf(module)) => module.first().cloned(),
        None => None,
    };
    named.into_iter().chain(defined).collect()
}

/// The groups whose members stand on each other, each with the edges that make it so.
pub(crate) fn circles<T: Clone + Ord + Display>(edges: &Edges<T>) -> Vec<BTreeMap<T, Vec<String>>> {
    let nodes = edges.keys().flat_map(|(from, to)| [from, to]).collect::<BTreeSet<_>>();
    let nodes = nodes.into_iter().collect::<Vec<_>>();
    let index = |node: &T| nodes.binary_search(&node).expect("every node is listed");
    let graph = DiGraphMap::<usize, ()>::from_edges(edges.keys().map(|(from, to)| (index(from), index(to))));
    let groups = tarjan_scc(&graph).into_iter().filter(|group| group.len() > 1);
    groups
        .map(|group| {
            let members = group.iter().map(|member| nodes[*member].clone()).collect::<BTreeSet<_>>();
            within(edges, &members)
        })
        .collect()
}

/// What each member of a group stands on within it.
fn within<T: Clone + Ord + Display>(edges: &Edges<T>, members: &BTreeSet<T>) -> BTreeMap<T, Vec<String>> {
    let mut found = BTreeMap::<T, Vec<String>>::new();
    for ((from, to), names) in edges {
        if members.contains(from) && members.contains(to) {
            let names = names.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            found.entry(from.clone()).or_default().push(format!("{to} ({names})"));
        }
    }
    found
}

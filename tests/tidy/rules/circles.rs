//! Modules that stand on each other: of two with one parent, each with all below it, only one may use the other. A name
//! that both need goes into a third.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter::zip,
};

use petgraph::{algo::tarjan_scc, graphmap::DiGraphMap};

use crate::{
    findings::Finding,
    names::{ModulePath, Target, resolve},
    reading::{Crate, Reference, ReferenceKind},
};

/// Which module uses which, and by which names.
type Edges = BTreeMap<(ModulePath, ModulePath), BTreeSet<String>>;

/// The modules that stand in a circle.
pub(crate) fn in_circles(all: &Crate) -> Vec<Finding> {
    let edges = edges(all);
    let nodes: Vec<_> =
        edges.keys().flat_map(|(from, to)| [from, to]).collect::<BTreeSet<_>>().into_iter().collect();
    let index = |node| nodes.binary_search(&node).expect("every node is listed");
    let graph = DiGraphMap::<usize, ()>::from_edges(edges.keys().map(|(from, to)| (index(from), index(to))));
    let circles = tarjan_scc(&graph).into_iter().filter(|circle| circle.len() > 1);
    let members = circles.flat_map(|circle| {
        let members: BTreeSet<_> = circle.into_iter().map(|node| nodes[node]).collect();
        members.iter().map(|member| finding(all, &edges, member, &members)).collect::<Vec<_>>()
    });
    members.collect()
}

/// A member of a circle, and what it uses of the others.
fn finding(all: &Crate, edges: &Edges, member: &ModulePath, members: &BTreeSet<&ModulePath>) -> Finding {
    let used = edges.iter().filter(|((from, to), _)| from == member && members.contains(to));
    let used = used.map(|((_, to), names)| {
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        format!("{} ({})", to.join("::"), names.join(", "))
    });
    Finding::new(&all.names[member].part.file, &format!("uses {}", used.collect::<Vec<_>>().join("; ")))
}

fn edges(all: &Crate) -> Edges {
    let mut edges = Edges::new();
    for reference in all.references.iter().filter(|reference| !reference.part.tests) {
        if let Some(edge) = between_siblings(all, reference) {
            edges.entry(edge).or_default().insert(reference.path.join("::"));
        }
    }
    edges
}

/// The two modules of one parent between which a reference leads, if it does.
fn between_siblings(all: &Crate, reference: &Reference) -> Option<(ModulePath, ModulePath)> {
    let to = match resolve(&all.names, &reference.scope, &reference.path)? {
        Target::ItemOf(module) => module,
        Target::Module(module) if reference.kind == ReferenceKind::Text => module,
        Target::Module(_) => return None,
    };
    let from = &reference.scope;
    let common = zip(from, &to).take_while(|(one, other)| one == other).count();
    let sibling = |module: &ModulePath| module.get(..=common).map(<[String]>::to_vec);
    Some((sibling(from)?, sibling(&to)?))
}

//! Walls between crates: what a crate must not depend on, by itself or through another. A crate depends only on those
//! below it as Cargo sees to it, which does not say where it stands.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Table, Value};

use crate::{
    findings::Finding,
    tree::{File, Tree},
};

/// Which crates must not depend on which, by the beginnings of their folders, and why.
const WALLS: &[(&str, &str, &str)] = &[
    ("src/server/", "src/agent/", "the server executes no turn, run or job: the agent is one of its domains"),
    ("src/server/", "src/planner/", "the server answers no question: the agent does, one of its domains"),
    ("src/domains/", "src/agent/", "domains see toolwire-agent-api alone"),
    ("src/domains/", "src/planner/", "domains see toolwire-agent-api alone"),
    ("src/agent-api/", "src/agent/", "domains depend on it, and see the agent through it otherwise"),
    ("src/agent-api/", "src/planner/", "domains depend on it, and see the planner through it otherwise"),
    ("src/agent-api/", "src/server/", "it is what domains and the agent have in common, and no face"),
];

/// The folder of the crates that nothing below the root package depends on, and why.
const DOMAINS: (&str, &str) = ("src/domains/", "the platform knows no domain: the root package lists them");

/// A crate, by its manifest.
struct Package<'a> {
    file: &'a File,
    /// The names of the packages that it is compiled with.
    uses: BTreeSet<String>,
    /// The same for its own tests.
    tests: BTreeSet<String>,
}

/// The dependencies through a wall.
pub(crate) fn breached(tree: &Tree) -> Vec<Finding> {
    let packages: BTreeMap<_, _> = tree.manifests.iter().map(Package::read).collect();
    let folder = |name: &str| packages[name].file.path.trim_end_matches("Cargo.toml");
    let all = packages.keys().flat_map(|from| below(&packages, from).into_iter().map(move |to| (from, to)));
    let breaches = all.filter_map(|(from, to)| {
        let (from_folder, to_folder) = (folder(from), folder(&to));
        let is_through = |(above, below, _): &&(&str, &str, &str)| {
            from_folder.starts_with(above) && to_folder.starts_with(below)
        };
        let wall = WALLS.iter().find(is_through).map(|(_, _, why)| *why);
        let of_domains = to_folder.starts_with(DOMAINS.0) && !from_folder.starts_with(DOMAINS.0);
        let why = wall.or_else(|| of_domains.then_some(DOMAINS.1))?;
        Some(Finding::new(&packages[from].file.path, &format!("{from} depends on {to}: {why}")))
    });
    breaches.collect()
}

/// The packages of the tree that a package depends on, by itself or through another.
fn below(packages: &BTreeMap<String, Package<'_>>, from: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut next: Vec<_> = packages[from].uses.iter().chain(&packages[from].tests).collect();
    while let Some(name) = next.pop() {
        let Some(package) = packages.get(name) else { continue };
        if found.insert(name.clone()) {
            next.extend(&package.uses);
        }
    }
    found
}

impl<'a> Package<'a> {
    /// A package with its name.
    fn read(file: &'a File) -> (String, Self) {
        let manifest: Table = file.text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.path));
        let name = manifest["package"]["name"].as_str().expect("a package has a name").to_owned();
        let (mut uses, mut tests) = (BTreeSet::new(), BTreeSet::new());
        dependencies(&manifest, &mut uses, &mut tests);
        // Those of one platform or another.
        for target in manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values) {
            dependencies(target.as_table().expect("a table"), &mut uses, &mut tests);
        }
        (name, Self { file, uses, tests })
    }
}

/// Adds the names of the packages that a table of a manifest depends on.
fn dependencies(table: &Table, uses: &mut BTreeSet<String>, tests: &mut BTreeSet<String>) {
    for (key, names) in [("dependencies", &mut *uses), ("dev-dependencies", tests)] {
        names.extend(names_in(table, key));
    }
    uses.extend(names_in(table, "build-dependencies"));
}

/// The names of the packages in a list of dependencies, which may go by another name in the crate.
fn names_in<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = String> + 'a {
    let listed = table.get(key).and_then(Value::as_table).into_iter().flatten();
    listed.map(|(name, value)| value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned())
}

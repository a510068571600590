//! Checks manifests against each other: duplicate names and intents, and missing or circular dependencies.

use std::collections::{BTreeMap, BTreeSet};

use super::read::Read;
use crate::registry::{CacheScope, manifest::Manifest, requirements::Requirements};
use toolwire_contract::{ToolName, near::did_you_mean};

/// Reports every conflict of a manifest with the others, in its own file.
pub(super) fn refuse_conflicts(files: &mut [Read], requirements: Requirements<'_>) {
    refuse_taken_names(files);
    refuse_taken_intents(files);
    refuse_dependencies(files);
    refuse_unrepeatable(files, requirements);
    refuse_shared_identity(files);
}

fn refuse_taken_names(files: &mut [Read]) {
    let mut owners = BTreeMap::new();
    for (manifest, report) in files.iter_mut().filter_map(Read::parts) {
        if let Some(owner) = owners.get(&manifest.name) {
            let text =
                format!("Tool '{}' is already registered (by {owner}); rename one of the two", manifest.name);
            report.add("/name", "duplicate-name", text);
        } else {
            owners.insert(manifest.name.clone(), report.file().to_owned());
        }
    }
}

fn refuse_taken_intents(files: &mut [Read]) {
    let mut owners = BTreeMap::new();
    for (manifest, report) in files.iter_mut().filter_map(Read::parts) {
        for (index, intent) in manifest.intents.iter().enumerate() {
            if let Some(owner) = owners.get(intent) {
                let text = format!(
                    "intent `{intent}` already routes to {owner}; remove the intent from one of the two"
                );
                report.add(format!("/intents/{index}"), "duplicate-intent", text);
            } else {
                owners.insert(intent.clone(), manifest.name.clone());
            }
        }
    }
}

fn refuse_dependencies(files: &mut [Read]) {
    let graph: BTreeMap<_, _> = files
        .iter_mut()
        .filter_map(Read::parts)
        .map(|(manifest, _)| (manifest.name.clone(), manifest.depends_on.clone()))
        .collect();
    for (manifest, report) in files.iter_mut().filter_map(Read::parts) {
        for (index, dependency) in manifest.depends_on.iter().enumerate() {
            if let Some((rule, text)) = fault(&manifest.name, dependency, &graph) {
                report.add(format!("/depends_on/{index}"), rule, text);
            }
        }
    }
}

/// Reports tools that depend on one that needs approval and are not repeatable. Such a tool is run again from its
/// beginning after the approval, and would make its own writes twice unless it is idempotent.
fn refuse_unrepeatable(files: &mut [Read], requirements: Requirements<'_>) {
    let (mut graph, mut confirmed) = (Graph::new(), BTreeSet::new());
    for (manifest, _) in files.iter_mut().filter_map(Read::parts) {
        graph.insert(manifest.name.clone(), manifest.depends_on.clone());
        let provider = manifest.upstream.as_ref().map(|upstream| upstream.provider.as_str());
        if manifest.may_need_confirmation() || !requirements.conditions(&manifest.name, provider).is_empty() {
            confirmed.insert(manifest.name.clone());
        }
    }
    if confirmed.is_empty() {
        return;
    }
    for (manifest, report) in files.iter_mut().filter_map(Read::parts) {
        for (index, dependency) in manifest.depends_on.iter().enumerate() {
            let mut ways =
                confirmed.iter().filter_map(|it| path(dependency, it, &graph, &mut BTreeSet::new()));
            let Some((rule, why)) = ways.next().and_then(|way| unrepeatable(manifest, &way.join(" -> ")))
            else {
                continue;
            };
            report.add(format!("/depends_on/{index}"), rule, why);
        }
    }
}

/// Reports tools with a shared cache that depend on one that has the user's identity as an argument.
fn refuse_shared_identity(files: &mut [Read]) {
    let (mut graph, mut bound) = (Graph::new(), BTreeSet::new());
    for (manifest, _) in files.iter_mut().filter_map(Read::parts) {
        graph.insert(manifest.name.clone(), manifest.depends_on.clone());
        if manifest.parameters.iter().any(|it| it.hiding.bind.is_some_and(|it| !it.is_of_execution())) {
            bound.insert(manifest.name.clone());
        }
    }
    if bound.is_empty() {
        return;
    }
    for (manifest, report) in files.iter_mut().filter_map(Read::parts) {
        if manifest.cache.is_none_or(|cache| cache.scope != CacheScope::Shared) {
            continue;
        }
        for (index, dependency) in manifest.depends_on.iter().enumerate() {
            let mut ways = bound.iter().filter_map(|it| path(dependency, it, &graph, &mut BTreeSet::new()));
            let Some(way) = ways.next() else { continue };
            let text = format!(
                "{} has the caller as an argument, and this tool's cached result answers every user; make the scope \
                 of `cache` `user`, or remove the dependency",
                way.join(" -> ")
            );
            report.add(format!("/depends_on/{index}"), "bound-and-shared", text);
        }
    }
}

/// The problem of a tool that depends, along this path, on one that needs approval; `None` if there is no problem.
fn unrepeatable(manifest: &Manifest, way: &str) -> Option<(&'static str, String)> {
    if !manifest.is_repeatable() {
        let text = format!(
            "{way} must be approved by a person, and then this tool, which does not only read, is carried out again \
             from its beginning; say `\"idempotent\": true` if that changes nothing more, or remove the dependency"
        );
        return Some(("not-repeatable", text));
    }
    // Concurrent equal calls of a cached tool share one execution, and a confirmation belongs to one caller only.
    manifest.cache.is_some().then(|| {
        let text = format!(
            "{way} must be approved by a person for each call, and this tool is cached; remove `cache`"
        );
        ("cached-approval", text)
    })
}

type Graph = BTreeMap<ToolName, Vec<String>>;

/// The problem of one dependency. A tool may depend on itself: nesting is bounded at run time.
fn fault(tool: &str, dependency: &str, graph: &Graph) -> Option<(&'static str, String)> {
    if !graph.contains_key(dependency) {
        let hint = did_you_mean(dependency, graph.keys().map(ToolName::as_str));
        let next = if hint.is_empty() { "; write the name of a tool of this server" } else { &*hint };
        return Some(("unknown-dependency", format!("no tool `{dependency}`{next}")));
    }
    if dependency == tool {
        return None;
    }
    let circle = path(dependency, tool, graph, &mut BTreeSet::new())?;
    let circle = [&[tool], &*circle].concat().join(" -> ");
    Some(("circular-dependency", format!("{circle} is a circle; remove one of the dependencies")))
}

/// The tools on a path of dependencies, both ends included.
fn path<'a>(from: &'a str, to: &str, graph: &'a Graph, seen: &mut BTreeSet<&'a str>) -> Option<Vec<&'a str>> {
    if from == to {
        return Some(vec![from]);
    }
    if !seen.insert(from) {
        return None;
    }
    let rest = graph.get(from).into_iter().flatten().find_map(|next| path(next, to, graph, seen))?;
    Some([&[from], &*rest].concat())
}

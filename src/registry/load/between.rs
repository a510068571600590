//! What no manifest can get wrong alone: names and intents given twice, dependencies that are missing or circular.

use std::collections::{BTreeMap, BTreeSet};

use super::read::Read;
use crate::contract::{ToolName, near::did_you_mean};

/// Reports, in its file, every conflict of a manifest with the others.
pub(super) fn refuse_conflicts(files: &mut [Read]) {
    refuse_taken_names(files);
    refuse_taken_intents(files);
    refuse_dependencies(files);
}

fn refuse_taken_names(files: &mut [Read]) {
    let mut owners = BTreeMap::new();
    for (manifest, report) in files.iter_mut().filter_map(Read::parts) {
        if let Some(owner) = owners.get(&manifest.name) {
            let text = format!("Tool '{}' is already registered (by {owner})", manifest.name);
            report.add("/name", "duplicate-name", text);
        } else {
            owners.insert(manifest.name.clone(), manifest.file.clone());
        }
    }
}

fn refuse_taken_intents(files: &mut [Read]) {
    let mut owners = BTreeMap::new();
    for (manifest, report) in files.iter_mut().filter_map(Read::parts) {
        for (index, intent) in manifest.intents.iter().enumerate() {
            if let Some(owner) = owners.get(intent) {
                let text = format!("intent `{intent}` already routes to {owner}");
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

type Graph = BTreeMap<ToolName, Vec<String>>;

/// A tool may call itself: nesting is bounded at run time.
fn fault(tool: &str, dependency: &str, graph: &Graph) -> Option<(&'static str, String)> {
    if !graph.contains_key(dependency) {
        let hint = did_you_mean(dependency, graph.keys().map(ToolName::as_str));
        return Some(("unknown-dependency", format!("no tool `{dependency}`{hint}")));
    }
    let is_circle = dependency != tool && reaches(dependency, tool, graph, &mut BTreeSet::new());
    is_circle.then(|| ("circular-dependency", format!("`{dependency}` depends on `{tool}` in turn")))
}

fn reaches<'a>(from: &'a str, to: &str, graph: &'a Graph, seen: &mut BTreeSet<&'a str>) -> bool {
    from == to
        || (seen.insert(from)
            && graph.get(from).into_iter().flatten().any(|next| reaches(next, to, graph, seen)))
}

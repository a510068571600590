//! Tools of providers: made of what a provider offers and of its executors, and joined to those of files.
//!
//! A change of one provider makes its own tools anew and no others. A name has one owner: a file first, then the
//! provider that had it first. A file with `upstream` replaces all of an offer but its execution. Not here: which names
//! a provider may own (the server's configuration), and executing them.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use super::{
    assemble::{RegisteredTool, assemble_provided},
    conditions::Configured,
    manifest::Manifest,
    problem::{Report, join},
};
use toolwire_base::files::Problem;
use toolwire_contract::ToolName;
use toolwire_tool::Executor;

/// A tool that a provider offers.
pub struct ProvidedTool {
    /// The keys of a manifest.
    pub manifest: Map<String, Value>,
    /// Conditions on its arguments that the configuration of the provider adds.
    pub conditions: Option<Map<String, Value>>,
    /// Executes it, and has its schemas.
    pub executor: Arc<dyn Executor>,
}

/// The result of an offer: the tool, or why it is not served.
pub type Provision = Result<Arc<RegisteredTool>, Vec<Problem>>;

/// The tools of all providers.
#[derive(Debug, Default)]
pub(super) struct Providers(BTreeMap<String, Vec<Arc<RegisteredTool>>>);

impl std::fmt::Debug for ProvidedTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ProvidedTool").field(&self.executor.name()).finish()
    }
}

/// Makes the tools that a provider offers, whatever others have.
pub(super) fn make(provider: &str, tools: Vec<ProvidedTool>) -> Vec<Provision> {
    tools.into_iter().map(|tool| assemble_offer(provider, tool)).collect()
}

fn assemble_offer(
    provider: &str,
    ProvidedTool { manifest, conditions, executor }: ProvidedTool,
) -> Provision {
    let file = format!("{provider}/{}.json", executor.name());
    let mut report = Report::new(&file);
    let manifest = Manifest::read(&file, &Value::Object(manifest).to_string(), &mut report);
    let pointer = format!("{}/conditions", join("/providers", provider));
    let conditions = conditions.as_ref().map(|conditions| Configured { pointer: &pointer, conditions });
    let tool = manifest.and_then(|it| assemble_provided(provider, (it, conditions), executor, &mut report));
    let problems = report.into_problems();
    tool.filter(|_| problems.is_empty()).map(Arc::new).ok_or(problems)
}

impl Providers {
    /// Takes over the tools of a provider, in place of those that it had; what others own is refused.
    pub(super) fn replace(
        &mut self,
        provider: &str,
        made: Vec<Provision>,
        of_files: &[Arc<RegisteredTool>],
    ) -> Vec<Provision> {
        self.0.remove(provider);
        let mut owners: BTreeMap<ToolName, String> =
            of_files.iter().map(|tool| (name(tool), "a file".to_owned())).collect();
        for (owner, tools) in &self.0 {
            owners.extend(tools.iter().map(|tool| (name(tool), format!("the provider `{owner}`"))));
        }
        let declared = of_files.iter().filter(|tool| tool.is_declared_for(provider));
        let mut declared: BTreeMap<ToolName, _> = declared.map(|tool| (name(tool), tool)).collect();
        let mut own = Vec::new();
        let made = made.into_iter().map(|made| {
            let tool = made?;
            let of_file = declared.remove(&tool.definition.name);
            if let (Some(owner), None) = (owners.get(&tool.definition.name), of_file) {
                return Err(vec![name_conflict(&tool, owner)]);
            }
            owners.insert(name(&tool), "another offer of the same name".to_owned());
            own.push(Arc::clone(&tool));
            Ok(of_file.and_then(|of_file| host_tool(of_file, &tool)).unwrap_or(tool))
        });
        let made = made.collect();
        self.0.insert(provider.to_owned(), own);
        made
    }

    /// Whether the provider had any.
    pub(super) fn remove(&mut self, provider: &str) -> bool {
        self.0.remove(provider).is_some_and(|tools| !tools.is_empty())
    }

    /// The tools of files, each that a provider executes with the execution that it offers.
    pub(super) fn host<'a>(
        &'a self,
        of_files: &'a [Arc<RegisteredTool>],
    ) -> impl Iterator<Item = Arc<RegisteredTool>> + 'a {
        of_files.iter().map(|tool| {
            let upstream = tool.definition.upstream.as_ref();
            let offered = upstream.and_then(|upstream| self.0.get(&upstream.provider)).into_iter().flatten();
            let mut offered = offered.filter(|it| it.definition.name == tool.definition.name);
            offered.next().and_then(|offered| host_tool(tool, offered)).unwrap_or_else(|| Arc::clone(tool))
        })
    }

    /// Those whose names no file has taken since.
    pub(super) fn beside<'a>(
        &'a self,
        of_files: &'a [Arc<RegisteredTool>],
    ) -> impl Iterator<Item = &'a Arc<RegisteredTool>> {
        let is_free = |tool: &&Arc<RegisteredTool>| {
            !of_files.iter().any(|it| it.definition.name == tool.definition.name)
        };
        self.0.values().flatten().filter(is_free)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.values().all(Vec::is_empty)
    }
}

/// A tool of a file that is executed as a provider offers it.
fn host_tool(of_file: &RegisteredTool, offered: &RegisteredTool) -> Option<Arc<RegisteredTool>> {
    Some(Arc::new(of_file.with_executor(Arc::clone(offered.executor.as_ref()?))))
}

fn name(tool: &Arc<RegisteredTool>) -> ToolName {
    tool.definition.name.clone()
}

fn name_conflict(tool: &RegisteredTool, owner: &str) -> Problem {
    let text =
        format!("Tool '{}' is already registered (by {owner}); rename one of the two", tool.definition.name);
    Problem { pointer: "/name".to_owned(), ..Problem::new(&tool.definition.file, "owned-by-another", text) }
}

#[cfg(test)]
mod tests;

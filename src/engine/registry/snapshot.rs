//! An immutable state of the registry: a call pins one, a watcher compares two.

use std::{collections::BTreeMap, slice, sync::Arc};

use super::{assemble::RegisteredTool, definition::Definition, health::Sources};
use crate::registry::parts::Status;
use toolwire_base::{
    digest::Digest,
    files::{Audience, Problem},
};
use toolwire_config::RuleTarget;
use toolwire_contract::ToolName;

/// The tools, intents and problems of one moment.
#[derive(Debug)]
pub struct Snapshot {
    tools: BTreeMap<ToolName, Arc<RegisteredTool>>,
    /// The same tools contiguous in memory, for iteration.
    sorted: Box<[Arc<RegisteredTool>]>,
    intents: BTreeMap<String, Arc<RegisteredTool>>,
    problems: Vec<Problem>,
    data_digest: Digest,
    source_digests: BTreeMap<String, String>,
}

/// A difference between two snapshots.
#[derive(Clone, Debug)]
pub enum Change {
    Added(Arc<RegisteredTool>),
    /// A tool's definition changed, or the tool is ready again.
    Changed(Arc<RegisteredTool>),
    Removed(ToolName),
    /// A tool is no longer ready, or the reason changed.
    Degraded(Arc<RegisteredTool>),
    /// The data of sources changed; its new digest.
    DataChanged(Digest),
    /// The problems of the files on disk changed; empty once all are fixed.
    Problems(Vec<Problem>),
}

impl Snapshot {
    pub(super) fn new(tools: &[Arc<RegisteredTool>], problems: &[Problem], sources: &Sources) -> Self {
        let all: BTreeMap<_, _> =
            tools.iter().map(|tool| (tool.definition.name.as_str(), &tool.definition)).collect();
        let tools: BTreeMap<_, _> = tools
            .iter()
            .map(|tool| (tool.definition.name.clone(), apply_health(tool, sources, &all)))
            .collect();
        let intents = tools
            .values()
            .flat_map(|tool| tool.definition.intents.iter().map(|intent| (intent.clone(), Arc::clone(tool))));
        let of_sources = sources.data().values().flat_map(|health| &health.problems);
        let problems = problems.iter().chain(of_sources).filter(|it| it.audience == Audience::Callers);
        let digests = sources.data().iter().flat_map(|(name, health)| [name.as_str(), &health.digest]);
        Self {
            intents: intents.collect(),
            problems: problems.cloned().collect(),
            data_digest: Digest::of_parts(digests),
            source_digests: sources
                .data()
                .iter()
                .map(|(name, health)| (name.clone(), health.digest.clone()))
                .collect(),
            sorted: tools.values().cloned().collect(),
            tools,
        }
    }

    /// A snapshot without tools, for tests that only compare snapshots.
    #[cfg(any(test, feature = "testing"))]
    pub fn empty() -> Self {
        Self::new(&[], &[], &Sources::default())
    }

    pub fn get(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.tools.get(name)
    }

    /// The tool of a name as rules see it, whether or not it is offered.
    pub fn rule_target<'a>(&'a self, name: &'a str) -> RuleTarget<'a> {
        self.get(name).map_or(RuleTarget::named(name), |tool| tool.definition.rule_target())
    }

    /// The tool that an intent routes to.
    pub fn by_intent(&self, intent: &str) -> Option<&Arc<RegisteredTool>> {
        self.intents.get(intent)
    }

    /// Every tool, in order of name.
    pub fn tools(&self) -> slice::Iter<'_, Arc<RegisteredTool>> {
        self.sorted.iter()
    }

    /// Every intent and its tool, in order.
    pub fn intents(&self) -> impl Iterator<Item = (&str, &Arc<RegisteredTool>)> {
        self.intents.iter().map(|(intent, tool)| (intent.as_str(), tool))
    }

    /// Problems of the files on disk, because of which an older state is served. Those for operators only are left out.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Digest over the digests of all sources.
    pub fn data_digest(&self) -> &Digest {
        &self.data_digest
    }

    /// The digest of one source's data and mode, as the source reports it. Empty if it reports none.
    pub fn source_digest(&self, source: &str) -> &str {
        self.source_digests.get(source).map_or("", String::as_str)
    }

    /// The changes since an older snapshot: removed tools first, then other tools in order of name, then the rest.
    pub fn changes_since(&self, older: &Self) -> Vec<Change> {
        let (mut changes, mut of_tools) = (Vec::new(), Vec::new());
        let mut before = older.tools.iter().peekable();
        for (name, tool) in &self.tools {
            while let Some((gone, _)) = before.next_if(|(older, _)| *older < name) {
                changes.push(Change::Removed(gone.clone()));
            }
            let older = before.next_if(|(older, _)| *older == name);
            of_tools.extend(tool_changes(older.map(|(_, tool)| tool), tool));
        }
        changes.extend(before.map(|(gone, _)| Change::Removed(gone.clone())));
        changes.append(&mut of_tools);
        if self.data_digest != older.data_digest {
            changes.push(Change::DataChanged(self.data_digest));
        }
        if self.problems != older.problems {
            changes.push(Change::Problems(self.problems.clone()));
        }
        changes
    }
}

fn apply_health(
    tool: &Arc<RegisteredTool>,
    sources: &Sources,
    all: &BTreeMap<&str, &Definition>,
) -> Arc<RegisteredTool> {
    if let Status::Disabled(_) = tool.definition.status {
        return Arc::clone(tool);
    }
    match sources.degradation(&tool.definition, all) {
        Some(reason) => Arc::new(tool.with_status(Status::Degraded(reason))),
        None => Arc::clone(tool),
    }
}

/// The changes of one tool. If its definition and its status change together, both are reported.
fn tool_changes(older: Option<&Arc<RegisteredTool>>, tool: &Arc<RegisteredTool>) -> Vec<Change> {
    let Some(older) = older else { return vec![Change::Added(Arc::clone(tool))] };
    if Arc::ptr_eq(older, tool) {
        return Vec::new();
    }
    let (before, now) = (&older.definition, &tool.definition);
    let is_ready_again = now.status == Status::Ready && before.status != Status::Ready;
    let is_degraded = now.status != Status::Ready && now.status != before.status;
    let changed = before.digest != now.digest || is_ready_again;
    let changed = changed.then(|| Change::Changed(Arc::clone(tool)));
    changed.into_iter().chain(is_degraded.then(|| Change::Degraded(Arc::clone(tool)))).collect()
}

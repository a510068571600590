//! Loads all manifests together: every tool that can be assembled, and every problem of every file at once.

mod cross_checks;
mod file_cache;
mod read;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

pub(super) use self::file_cache::FileCache;
use self::read::{Parsed, Read};
use super::{
    assemble::{RegisteredTool, assemble},
    cooperative::Pace,
    manifest::Manifest,
    manifests::Content,
    parallel::each,
    payload::Payloads,
    problem::{Report, join},
    registry_input::RegistryInput,
};
use crate::registry::parts::Status;
use toolwire_base::files::Problem;
use toolwire_contract::near::did_you_mean;

/// Approximate microseconds to parse a manifest, and to assemble a tool.
const PARSED: u32 = 25;
const MADE: u32 = 50;

/// Loaded tools and problems. The tools may be offered only if there are no problems.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) tools: Vec<Arc<RegisteredTool>>,
    pub(super) problems: Vec<Problem>,
}

/// Loads the given files. Afterwards `cache` has the tools of the files without problems of their own, and no others.
pub(super) fn load(files: Vec<Content>, input: &RegistryInput, cache: &mut FileCache, pace: &Pace) -> Loaded {
    let (from, requirements) = (&*cache, input.requirements());
    let mut files = each(
        files,
        pace,
        || (),
        |file, (), pace| {
            let mut read = Read::file(file, from);
            if let Some(Parsed::Manifest(manifest)) = &mut read.found {
                pace.record(PARSED);
                let provider = manifest.upstream.as_ref().map(|upstream| upstream.provider.clone());
                requirements.raise(manifest, provider.as_deref());
            }
            read
        },
    );
    *cache = FileCache::with_capacity(files.len());
    // Counted before the cross-checks: a file with conflicts only is still cached, since the conflict may be resolved
    // in the other file.
    let read: Vec<_> = files.iter().map(|file| file.report.len()).collect();
    cross_checks::refuse_conflicts(&mut files, requirements);
    let of_reading = files.into_iter().zip(read).collect();
    let made = each(of_reading, pace, Payloads::default, |(read, of_reading), payloads, pace| {
        let of_others = read.report.len() - of_reading;
        let (file, tool, report) = assemble_file(read, input, payloads, pace);
        let is_good = report.len() == of_others;
        (file, tool, report, is_good)
    });
    let (mut tools, mut problems) = (Vec::new(), Vec::new());
    for (file, tool, report, is_good) in made {
        if let (Some(tool), true) = (&tool, is_good) {
            cache.keep(file, Arc::clone(tool));
        }
        tools.extend(tool);
        problems.extend(report.into_problems());
    }
    Loaded { tools, problems }
}

/// Reports conditions in the configuration for unknown tools, since a misspelt name would leave a tool without them.
/// Only at start-up: a reload may remove tools.
pub(super) fn unmatched_conditions(
    configured: &BTreeMap<String, Map<String, Value>>,
    tools: &[Arc<RegisteredTool>],
) -> Vec<Problem> {
    let names = || tools.iter().map(|tool| &*tool.definition.name);
    let unmatched = configured.keys().filter(|name| !names().any(|it| it == name.as_str()));
    let problem = |name: &String| {
        let hint = did_you_mean(name, names());
        let next = if hint.is_empty() { "; name a tool of this server, or remove the table" } else { &*hint };
        let problem = Problem::new("toolwire.toml", "unknown-tool", format!("no tool `{name}`{next}"));
        Problem { pointer: join("/confirmations/approve_unless", name), ..problem }
    };
    unmatched.map(problem).collect()
}

/// Assembles the tool that a file declares, unless it is kept from the last load.
fn assemble_file(
    Read { file, found, mut report }: Read,
    input: &RegistryInput,
    payloads: &mut Payloads,
    pace: &Pace,
) -> (Content, Option<Arc<RegisteredTool>>, Report) {
    let tool = match found {
        None => None,
        Some(Parsed::Tool(tool)) => Some(tool),
        Some(Parsed::Manifest(manifest)) => {
            pace.record(MADE);
            assemble_tool(*manifest, input, payloads, &mut report).map(Arc::new)
        }
    };
    (file, tool, report)
}

fn assemble_tool(
    mut manifest: Manifest,
    input: &RegistryInput,
    payloads: &mut Payloads,
    report: &mut Report,
) -> Option<RegisteredTool> {
    let RegistryInput { executors, descriptors, choices, disabled, .. } = input;
    for choice in choices {
        choice.complete(&mut manifest);
    }
    let executor = executors.iter().find(|executor| executor.name() == &*manifest.name);
    let executor = executor.filter(|_| manifest.upstream.is_none());
    let provider = manifest.upstream.as_ref().map(|upstream| upstream.provider.clone());
    let unhosted =
        provider.as_ref().map(|provider| Status::Disabled(format!("no host of `{provider}` offers it")));
    let disabled = disabled.iter().find(|it| *it.tool == *manifest.name);
    let disabled = disabled.map(|it| Status::Disabled(it.reason.clone()));
    let status = disabled.or(unhosted).unwrap_or(Status::Ready);
    let configured = input.requirements().conditions(&manifest.name, provider.as_deref());
    let domain = input.domains.get(manifest.name.as_str()).cloned();
    assemble(manifest, &configured, (executor.cloned(), status, domain), (descriptors, payloads), report)
}

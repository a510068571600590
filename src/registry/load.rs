//! All manifests together: every tool that can be assembled, and every problem of every file at once.

mod between;
mod kept;
mod read;

use std::sync::Arc;

pub(super) use self::kept::Kept;
use self::read::{Found, Read};
use super::{
    assemble::{RegisteredTool, assemble},
    definition::Status,
    manifest::Manifest,
    manifests::Content,
    offered::Offered,
    pace::Pace,
    payload::Payloads,
    problem::Report,
};
use crate::files::Problem;

/// About the microseconds that it takes to parse a manifest, and to make a tool of it.
const PARSED: u32 = 25;
const MADE: u32 = 50;

/// What manifests amount to. The tools may be offered only if there are no problems.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) tools: Vec<Arc<RegisteredTool>>,
    pub(super) problems: Vec<Problem>,
}

/// Everything that the given files declare. Afterwards the tools of the good ones are kept, and no others.
pub(super) fn load(files: Vec<Content>, offered: &Offered, kept: &mut Kept, pace: &Pace) -> Loaded {
    let read = |file| {
        let read = Read::file(file, kept);
        if let Some(Found::Manifest(_)) = &read.found {
            pace.worked(PARSED);
        }
        read
    };
    let mut files: Vec<_> = files.into_iter().map(read).collect();
    *kept = Kept::with_capacity(files.len());
    let read: Vec<_> = files.iter().map(|file| file.report.len()).collect();
    between::refuse_conflicts(&mut files);
    let (mut tools, mut problems, mut payloads) = (Vec::new(), Vec::new(), Payloads::default());
    for (Read { file, found, mut report }, of_reading) in files.into_iter().zip(read) {
        let of_others = report.len() - of_reading;
        let tool = match found {
            None => None,
            Some(Found::Tool(tool)) => Some(tool),
            Some(Found::Manifest(manifest)) => {
                pace.worked(MADE);
                made(*manifest, offered, &mut payloads, &mut report).map(Arc::new)
            }
        };
        if let (Some(tool), true) = (&tool, report.len() == of_others) {
            kept.keep(file, Arc::clone(tool));
        }
        tools.extend(tool);
        problems.extend(report.into_problems());
    }
    Loaded { tools, problems }
}

fn made(
    mut manifest: Manifest,
    Offered { executors, descriptors, choices, disabled, .. }: &Offered,
    payloads: &mut Payloads,
    report: &mut Report,
) -> Option<RegisteredTool> {
    for choice in choices {
        choice.complete(&mut manifest);
    }
    let executor = executors.iter().find(|executor| executor.name() == &*manifest.name);
    let disabled = disabled.iter().find(|it| *it.tool == *manifest.name);
    let status = disabled.map_or(Status::Ready, |it| Status::Disabled(it.reason.clone()));
    assemble(manifest, (executor.cloned(), status), (descriptors, payloads), report)
}

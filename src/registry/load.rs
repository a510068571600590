//! All manifests together: every tool that can be assembled, and every problem of every file at once.

mod between;
mod kept;
mod read;

use std::sync::Arc;

pub(super) use self::kept::Kept;
use self::read::{Found, Read};
use super::{
    assemble::{RegisteredTool, assemble},
    manifest::Manifest,
    manifests::Content,
    offered::Offered,
    pace::paced,
    problem::Report,
};
use crate::files::Problem;

/// So many manifests are parsed in one go, and so many tools are made.
const PARSED: usize = 4;
const MADE: usize = 1;

/// What manifests amount to. The tools may be offered only if there are no problems.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) tools: Vec<Arc<RegisteredTool>>,
    pub(super) problems: Vec<Problem>,
}

/// Everything that the given files declare. Afterwards the tools of the good ones are kept, and no others.
pub(super) fn load(files: Vec<Content>, offered: &Offered, kept: &mut Kept) -> Loaded {
    let mut files: Vec<_> = paced(files, PARSED).map(|file| Read::file(file, kept)).collect();
    *kept = Kept::with_capacity(files.len());
    let read: Vec<_> = files.iter().map(|file| file.report.len()).collect();
    between::refuse_conflicts(&mut files);
    let (mut tools, mut problems) = (Vec::new(), Vec::new());
    for (Read { file, found, mut report }, of_reading) in paced(files, MADE).zip(read) {
        let of_others = report.len() - of_reading;
        let tool = match found {
            None => None,
            Some(Found::Tool(tool)) => Some(tool),
            Some(Found::Manifest(manifest)) => made(*manifest, offered, &mut report).map(Arc::new),
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
    Offered { executors, descriptors, choices, .. }: &Offered,
    report: &mut Report,
) -> Option<RegisteredTool> {
    for choice in choices {
        choice.complete(&mut manifest);
    }
    let executor = executors.iter().find(|executor| executor.name() == &*manifest.name);
    assemble(manifest, executor.cloned(), descriptors, report)
}

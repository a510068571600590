//! All manifests together: every tool that can be assembled, and every problem of every file at once.

mod between;
mod read;

use std::sync::Arc;

use self::read::Read;
use super::{
    assemble::{RegisteredTool, assemble},
    manifests::Content,
    offered::Offered,
    problem::Report,
};
use crate::{files::Problem, tool::Executor};

/// What manifests amount to. The tools may be offered only if there are no problems.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) tools: Vec<Arc<RegisteredTool>>,
    pub(super) problems: Vec<Problem>,
}

/// Everything that the given files declare.
pub(super) fn load(files: &[Content], Offered { executors, descriptors, .. }: &Offered) -> Loaded {
    let mut files: Vec<_> = files.iter().map(Read::file).collect();
    between::refuse_conflicts(&mut files);
    let (mut tools, mut problems) = (Vec::new(), twice_in_the_list(executors));
    for Read { manifest, mut report } in files {
        let tool = manifest.and_then(|manifest| {
            let executor = executors.iter().find(|executor| executor.name() == manifest.name);
            assemble(manifest, executor.cloned(), descriptors, &mut report)
        });
        tools.extend(tool.map(Arc::new));
        problems.extend(report.into_problems());
    }
    Loaded { tools, problems }
}

/// Two executors of one name: a mistake in the list of tools, which no manifest shows.
fn twice_in_the_list(executors: &[Arc<dyn Executor>]) -> Vec<Problem> {
    let mut report = Report::new("src/tools.rs");
    for (index, executor) in executors.iter().enumerate() {
        if executors[..index].iter().any(|earlier| earlier.name() == executor.name()) {
            report.add("", "duplicate-name", format!("Tool '{}' is already registered", executor.name()));
        }
    }
    report.into_problems()
}

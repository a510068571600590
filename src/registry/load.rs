//! All manifests together: every tool that can be assembled, and every problem of every file at once.

mod between;
mod read;

use std::sync::Arc;

use self::read::Read;
use super::{
    assemble::{RegisteredTool, assemble},
    manifests::Content,
    offered::Offered,
};
use crate::files::Problem;

/// What manifests amount to. The tools may be offered only if there are no problems.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) tools: Vec<Arc<RegisteredTool>>,
    pub(super) problems: Vec<Problem>,
}

/// Everything that the given files declare.
pub(super) fn load(files: &[Content], Offered { executors, descriptors, choices, .. }: &Offered) -> Loaded {
    let mut files: Vec<_> = files.iter().map(Read::file).collect();
    between::refuse_conflicts(&mut files);
    let (mut tools, mut problems) = (Vec::new(), Vec::new());
    for Read { manifest, mut report } in files {
        let tool = manifest.and_then(|mut manifest| {
            for choice in choices {
                choice.complete(&mut manifest);
            }
            let executor = executors.iter().find(|executor| executor.name() == &*manifest.name);
            assemble(manifest, executor.cloned(), descriptors, &mut report)
        });
        tools.extend(tool.map(Arc::new));
        problems.extend(report.into_problems());
    }
    Loaded { tools, problems }
}

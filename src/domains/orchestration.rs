//! Orchestration: the tools by which agents think, delegate, ask and hand off (specification 002).
//!
//! Most of them execute nothing: the platform carries them out by their type, so that a manifest is all there is of
//! them.

pub mod ask_data;
pub mod proto;

use include_dir::{Dir, include_dir};

use crate::{domain::Domain, files::Embedded};

/// The manifests of all bundled domains: each takes those of its own tools.
static MANIFESTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/tools");

/// The tools that are a manifest and nothing else.
const WITHOUT_CODE: [&str; 10] = [
    "ask_master",
    "handoff",
    "plan_next_steps",
    "route_to_analyst",
    "route_to_developer",
    "route_to_visualizer",
    "save_to_long_term_memory",
    "save_to_short_term_memory",
    "start_task",
    "stop_and_think",
];

/// The domain.
pub fn domain() -> Domain {
    let tools = Vec::new();
    Domain {
        data: Embedded::manifests(&MANIFESTS, names(&tools)),
        tools,
        descriptors: proto::DESCRIPTORS,
        ..Domain::new("orchestration")
    }
}

fn names(tools: &[std::sync::Arc<dyn crate::tool::Executor>]) -> impl Iterator<Item = &str> {
    WITHOUT_CODE.into_iter().chain(tools.iter().map(|tool| tool.name()))
}

//! Orchestration: the tools by which agents think, delegate, ask and hand off, and work with what is in the workspace.
//!
//! Half of them execute nothing: the platform carries them out by their type, so that a manifest is all there is of
//! them. `read_result` is a domain of its own, since a server without samples keeps long results too.

pub mod ask_data;
mod open;
pub mod proto;
pub mod sources;
pub mod tools;

use include_dir::{Dir, include_dir};

use self::tools::ReadResult;
use toolwire_base::files::Embedded;
use toolwire_server::domain::Domain;
use toolwire_tool::{Tool, erase};

/// The manifests of all bundled domains: each takes those of its own tools.
static MANIFESTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/tools");

/// What the embedded sources answer from.
static DATA: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/orchestration");

/// The tools that are a manifest and nothing else: carried out by their type.
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

pub fn domain() -> Domain {
    let tools = tools::all();
    let names = WITHOUT_CODE.into_iter().chain(tools.iter().map(|tool| tool.name()));
    let manifests = Embedded::manifests(&MANIFESTS, names);
    Domain {
        data: Embedded::folder("orchestration", &DATA).and(&manifests),
        tools,
        sources: vec![sources::search::SPEC],
        descriptors: proto::DESCRIPTORS,
        disabled: Box::new(open::disabled),
        open: Box::new(open::open),
        ..Domain::new("orchestration")
    }
}

/// `read_result` alone: where a user may call it, results that are too long for a model are kept and cut.
pub fn results() -> Domain {
    Domain {
        data: Embedded::manifests(&MANIFESTS, [ReadResult::NAME]),
        tools: vec![erase(ReadResult)],
        descriptors: proto::DESCRIPTORS,
        ..Domain::new("results")
    }
}

//! A simulated brokerage account: its tools, and the files they read.

mod commands;
mod contexts;
mod names;
pub mod proto;
mod routes;
mod service;
pub mod source;
pub mod tools;

use std::sync::Arc;

use include_dir::{Dir, include_dir};

use self::{
    source::{Brokerage, OpenError},
    tools::{GetPerformance, GetPerformanceWithTransfers},
};
use toolwire_agent_api::Vocabulary;
use toolwire_base::files::{Embedded, Problem, Problems};
use toolwire_engine::registry::{DataSource, SourceHealth};
use toolwire_server::domain::{self, Domain, Opened, Opening};
use toolwire_tool::{
    Tool,
    context::{Services, SourceStates},
};

/// The manifests of all bundled domains: each takes those of its own tools.
static MANIFESTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/tools");

/// The parameters that callers by intent pass to every tool, whether it declares them or not.
const INTENT_PARAMETERS: [&str; 5] = ["account", "asset_class", "symbol", "timeframe", "topic"];

/// A conversation shows performance with the transfers beside it.
const IN_CHAT: [(&str, &str); 1] = [(GetPerformance::NAME, GetPerformanceWithTransfers::NAME)];

pub fn domain() -> Domain {
    let tools = tools::all();
    let manifests = Embedded::manifests(&MANIFESTS, tools.iter().map(|tool| tool.name()));
    Domain {
        data: data().and(&manifests),
        tools,
        parts: Services::default().with(Arc::new(vocabulary())),
        descriptors: proto::DESCRIPTORS,
        routes: routes::routes,
        commands: commands::commands(),
        intent_parameters: &INTENT_PARAMETERS,
        open: Box::new(open),
        check: Box::new(check),
        ..Domain::new("brokerage")
    }
}

fn vocabulary() -> Vocabulary {
    Vocabulary {
        lexicon: Some(names::LEXICON),
        names: names::of_services,
        contexts: Some(contexts::to_typed),
        in_chat: &IN_CHAT,
    }
}

/// The files that its tools read, without manifests.
pub fn data() -> Embedded {
    static DATA: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/brokerage");
    Embedded::folder("brokerage", &DATA)
}

fn read(opening: &Opening<'_>) -> Result<Brokerage, OpenError> {
    Brokerage::open(opening.tree.clone(), opening.config.data.default_user.clone())
}

fn open(opening: &Opening<'_>) -> Result<Opened, domain::OpenError> {
    let brokerage = Arc::new(read(opening)?);
    Ok(Opened {
        services: Services::default().with(Arc::clone(&brokerage)),
        states: SourceStates::default().with("brokerage", tools::state),
        data: vec![brokerage],
        grpc: vec![service::service()],
        ..Opened::default()
    })
}

impl DataSource for Brokerage {
    fn name(&self) -> &'static str {
        "brokerage"
    }

    fn refresh(&self) -> SourceHealth {
        let source::Health { digest, problems, missing_sections: sections } = self.look();
        SourceHealth { digest, problems, sections }
    }
}

fn check(opening: &Opening<'_>) -> Vec<Problem> {
    match read(opening) {
        Ok(_) => Vec::new(),
        Err(OpenError::Broken(Problems(problems))) => problems,
        Err(missing @ OpenError::MissingMaster(_)) => {
            vec![Problem::new("brokerage/user_master.json", "missing-file", missing.to_string())]
        }
    }
}

//! Research on Indian stocks: its tools, and their sources.

mod commands;
pub mod data;
mod discovery;
mod names;
mod open;
pub mod proto;
mod routes;
mod service;
pub mod settings;
pub mod sources;
pub mod store;
pub mod tools;

use std::sync::Arc;

use include_dir::{Dir, include_dir};

use toolwire_base::files::Embedded;
use toolwire_server::domain::Domain;
use toolwire_tool::context::Services;

/// The manifests of all bundled domains: each takes those of its own tools.
static MANIFESTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/tools");

pub fn domain() -> Domain {
    let tools = tools::all();
    let manifests = Embedded::manifests(&MANIFESTS, tools.iter().map(|tool| tool.name()));
    Domain {
        data: data::files().and(&manifests),
        tools,
        sources: sources::specs::ALL.into(),
        settings: vec![settings::section()],
        parts: Services::default().with(Arc::new(names::vocabulary())),
        descriptors: proto::DESCRIPTORS,
        migrations: Some(store::tables::migrations()),
        routes: routes::routes,
        commands: commands::commands(),
        choices: Box::new(|config| settings::choices(&config.part::<settings::Settings>())),
        open: Box::new(open::open),
        ..Domain::new("research")
    }
}

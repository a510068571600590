//! Where the commands meet the service: the composition root, the gRPC face, the registry's reports.
//!
//! The only file of the command line that changes when those do.

use std::{path::Path, sync::Arc};

use serde_json::Value;
use tokio::net::TcpListener;

use super::failure::Failure;
use crate::{
    config::Config,
    contract::proto::v1,
    pipeline::Pipeline,
    registry::{RegisteredTool, Registry},
};

/// The service without its doors.
#[derive(Debug)]
pub(super) struct Plane {
    /// Carries out calls.
    pub(super) pipeline: Arc<Pipeline>,
    /// Knows the tools.
    pub(super) registry: Arc<Registry>,
}

/// What is wrong with the manifests and the data.
#[derive(Debug)]
pub(super) struct Linted {
    /// Everything that start-up or the linter has to say.
    pub(super) problems: Vec<v1::DefinitionProblem>,
    /// Whether the service would refuse to start.
    pub(super) is_refused: bool,
}

#[allow(clippy::unnecessary_wraps, reason = "a stub")]
/// Starts the log and the export of traces. They end when the guard is dropped.
pub(super) fn start_telemetry(_config: &Config) -> Result<(), Failure> {
    // STUB: telemetry::init(&config.log, &config.telemetry)
    Ok(())
}

/// Makes the service.
pub(super) async fn open(_config: &Config) -> Result<Plane, Failure> {
    // STUB: App::build(config), StartError → Failure::Start
    std::future::ready(Err(Failure::Start("the service is not wired to the command line yet".to_owned())))
        .await
}

/// Serves until `shutdown`, then drains.
pub(super) async fn serve(
    _plane: Plane,
    _config: &Config,
    _listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Failure> {
    // STUB: faces::grpc::serve(app, config, listener, shutdown)
    shutdown.await;
    Err(not_wired("the gRPC face"))
}

/// A definition as callers see it.
pub(super) fn definition(tool: &RegisteredTool, _view: v1::ToolView) -> v1::ToolDefinition {
    // STUB: tool.definition.wire(view).clone()
    v1::ToolDefinition { name: tool.definition.name.clone(), ..Default::default() }
}

/// Checks the manifests and the data.
pub(super) async fn lint(_config: &Config) -> Result<Linted, Failure> {
    // STUB: registry::lint::lint(..)
    std::future::ready(Err(not_wired("the linter"))).await
}

/// The tools as markdown.
pub(super) fn render_docs(_plane: &Plane) -> Result<String, Failure> {
    // STUB: registry::docs::render(&plane.registry.snapshot())
    Err(not_wired("the documentation"))
}

/// The legacy per-domain files of a directory as one master file.
pub(super) fn merge_legacy(_directory: &Path) -> Result<Value, Failure> {
    // STUB: sources::brokerage::import::merge(directory), ImportError → Failure::Failed
    Err(not_wired("the import"))
}

fn not_wired(what: &str) -> Failure {
    Failure::Failed(format!("{what} is not wired to the command line yet"))
}

//! Why telemetry cannot be set up.

use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::error::OTelSdkError;
use tracing_subscriber::{filter::ParseError, util::TryInitError};

/// Telemetry could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The log filter does not parse.
    #[error("log filter: {0}; write it like `info` or `toolwire=debug,info`")]
    Filter(#[from] ParseError),
    /// The OTLP exporter cannot be built.
    #[error("OTLP exporter: {0}; check the OTEL_EXPORTER_OTLP_* variables")]
    Exporter(#[from] ExporterBuildError),
    /// Metrics cannot be made ready for Prometheus.
    #[error("metrics: {0}")]
    Metrics(#[from] OTelSdkError),
    /// Something else has set up tracing in this process.
    #[error("{0}")]
    Twice(#[from] TryInitError),
}

//! The options of telemetry, and the errors of its set-up.

use std::time::Duration;

use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::error::OTelSdkError;
use tracing_subscriber::{filter::ParseError, util::TryInitError};

use super::{otlp::Otlp, sampling::Sampling};

/// What to log and to trace.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The form of log lines.
    pub format: Format,
    /// Which log lines, in the syntax of `tracing`'s `EnvFilter`, such as `info` or `toolwire=debug`.
    pub filter: String,
    /// How spans go out over OTLP, if they do.
    pub traces: Option<Otlp>,
    /// Which RPCs are traced then.
    pub sampling: Sampling,
    /// How spans wait to be sent.
    pub batch: Batch,
    /// How metrics go out over OTLP, if they do.
    pub metrics: Option<Otlp>,
    /// How often they do.
    pub interval: Duration,
    /// Whether metrics can be scraped.
    pub prometheus: bool,
    /// The service's name in traces and metrics.
    pub service_name: String,
    /// What else traces and metrics come from.
    pub attributes: Vec<(String, String)>,
}

/// How spans wait to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// How long at most.
    pub delay: Duration,
    /// How many at most; further ones are lost.
    pub queue: usize,
    /// How many are sent at once, no more than wait.
    pub size: usize,
}

impl Default for Batch {
    /// As the specification has it.
    fn default() -> Self {
        Self { delay: Duration::from_secs(5), queue: 2_048, size: 512 }
    }
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text on a terminal, JSON elsewhere.
    #[default]
    Auto,
    /// One JSON object a line.
    Json,
    Text,
}

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
    #[error("metrics: {0}; serve without [admin] listen to do without them")]
    Metrics(#[from] OTelSdkError),
    /// There is no thread for the log.
    #[error("the log: {0}")]
    Log(std::io::Error),
    /// Something else has set up tracing in this process.
    #[error("tracing: {0}; set telemetry up once in a process, before anything else does")]
    Twice(#[from] TryInitError),
}

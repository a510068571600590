//! The options of telemetry, and the errors of its set-up.

use std::time::Duration;

use opentelemetry_otlp::ExporterBuildError;
use opentelemetry_sdk::error::OTelSdkError;
use tracing_subscriber::{filter::ParseError, util::TryInitError};

use super::{otlp::Otlp, sampling::Sampling};
use toolwire_outgoing::Egress;

/// What to log and to trace.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The form of log lines.
    pub format: Format,
    /// Which log lines, in the syntax of `tracing`'s `EnvFilter`, such as `info` or `toolwire=debug`.
    pub filter: String,
    /// How spans are exported over OTLP, if they are.
    pub traces: Option<Otlp>,
    /// Which RPCs are traced if spans are exported.
    pub sampling: Sampling,
    /// How spans are batched for export.
    pub batch: Batch,
    /// How metrics are exported over OTLP, if they are.
    pub metrics: Option<Otlp>,
    /// How the audit is exported over OTLP, if it is.
    pub audit: Option<Otlp>,
    /// Interval between two exports of metrics.
    pub interval: Duration,
    /// Whether metrics can be scraped.
    pub prometheus: bool,
    /// The service's name in traces, metrics and the audit.
    pub service_name: String,
    /// How the exporters' connections go out.
    pub egress: Egress,
    /// Further attributes of the resource of traces, metrics and the audit.
    pub attributes: Vec<(String, String)>,
}

/// How spans are batched for export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Maximum time that a span waits.
    pub delay: Duration,
    /// Maximum number of spans that wait; further ones are dropped.
    pub queue: usize,
    /// Maximum number of spans in one request, at most `queue`.
    pub size: usize,
}

impl Default for Batch {
    /// The defaults of the OpenTelemetry specification.
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
    /// The exporter for Prometheus cannot be built.
    #[error("metrics: {0}; serve without [admin] listen to do without them")]
    Metrics(#[from] OTelSdkError),
    /// The log's thread cannot be started.
    #[error("the log: {0}")]
    Log(std::io::Error),
    /// Tracing is set up already in this process.
    #[error("tracing: {0}; set telemetry up once in a process, before anything else does")]
    Twice(#[from] TryInitError),
}

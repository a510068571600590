//! What to log, to trace and to measure. Not here: how that is configured.

/// What to log and to trace.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The form of log lines.
    pub format: Format,
    /// Which log lines, in the syntax of `tracing`'s `EnvFilter`, such as `info` or `toolwire=debug`.
    pub filter: String,
    /// Whether spans go out over OTLP; where to is in the standard `OTEL_*` variables.
    pub otlp: bool,
    /// Whether metrics go out over OTLP; where to is in the standard `OTEL_*` variables.
    pub otlp_metrics: bool,
    /// Whether metrics can be scraped.
    pub prometheus: bool,
    /// The service's name in traces and metrics.
    pub service_name: String,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Text on a terminal, JSON elsewhere.
    #[default]
    Auto,
    /// One JSON object a line.
    Json,
    /// For people.
    Text,
}

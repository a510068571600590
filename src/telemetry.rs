//! Tracing and OpenTelemetry: the log on stderr, and spans over OTLP/gRPC where the standard `OTEL_*` variables ask
//! for them.
//!
//! A span exporter that is slow or absent costs calls nothing: spans wait in a bounded queue and are dropped when it is
//! full. Not here: what a span or a log line says, which stands where it is made.

pub mod attribute;

use std::{
    io::IsTerminal,
    panic::{self, PanicHookInfo},
};

use opentelemetry::{
    global,
    trace::{TraceContextExt, TracerProvider},
};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter};
use opentelemetry_sdk::{Resource, propagation::TraceContextPropagator, trace::SdkTracerProvider};
use tracing::{Metadata, Span, Subscriber, level_filters::LevelFilter};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{FilterExt, ParseError, Targets, filter_fn},
    layer::SubscriberExt,
    registry::LookupSpan,
    util::{SubscriberInitExt, TryInitError},
};

/// What to log and to trace.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The form of log lines.
    pub format: Format,
    /// Which log lines, in the syntax of `tracing`'s `EnvFilter`, such as `info` or `toolwire=debug`.
    pub filter: String,
    /// Whether spans go out over OTLP; where to is in the standard `OTEL_*` variables.
    pub otlp: bool,
    /// The service's name in traces.
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

/// Telemetry could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The log filter does not parse.
    #[error("log filter: {0}; write it like `info` or `toolwire=debug,info`")]
    Filter(#[from] ParseError),
    /// The OTLP exporter cannot be built.
    #[error("OTLP exporter: {0}; check the OTEL_EXPORTER_OTLP_* variables")]
    Exporter(#[from] ExporterBuildError),
    /// Something else has set up tracing in this process.
    #[error("{0}")]
    Twice(#[from] TryInitError),
}

/// Flushes what is left of the traces when the process ends.
#[derive(Debug)]
#[must_use]
pub struct Guard(Option<SdkTracerProvider>);

/// Sets up logging and tracing for the process. Within a Tokio runtime, which the exporter uses.
pub fn init(settings: &Settings) -> Result<Guard, SetupError> {
    global::set_text_map_propagator(TraceContextPropagator::new());
    let provider = settings.otlp.then(|| provider(settings)).transpose()?;
    let filter = EnvFilter::try_new(&settings.filter)?;
    // A line says what it has to say by itself; spans are for traces.
    let log = log_layer(settings.format)
        .with_filter(filter.and(filter_fn(|metadata: &Metadata<'_>| metadata.is_event())));
    let spans = provider.as_ref().map(span_layer);
    tracing_subscriber::registry().with(spans).with(log).try_init()?;
    panic::set_hook(Box::new(log_panic));
    Ok(Guard(provider))
}

/// The layer that makes OpenTelemetry spans of this crate's spans, lean on attributes.
pub fn span_layer<S>(provider: &SdkTracerProvider) -> impl Layer<S> + use<S>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("toolwire"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(Targets::new().with_target("toolwire", LevelFilter::INFO))
}

/// The trace that the current span belongs to, in hex; `None` where nothing is traced.
pub fn current_trace_id() -> Option<String> {
    let context = Span::current().context();
    let span = context.span();
    let span_context = span.span_context();
    span_context.is_valid().then(|| span_context.trace_id().to_string())
}

/// A tracer provider that exports as the standard `OTEL_*` variables say.
fn provider(settings: &Settings) -> Result<SdkTracerProvider, ExporterBuildError> {
    let exporter = SpanExporter::builder().with_tonic().build()?;
    let resource = Resource::builder().with_service_name(settings.service_name.clone()).build();
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build())
}

/// A panic is one more line of the log, in the log's form.
fn log_panic(info: &PanicHookInfo<'_>) {
    let location = info.location().map(ToString::to_string);
    tracing::error!(location, reason = info.payload_as_str(), "panicked");
}

fn log_layer<S>(format: Format) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let layer = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let is_terminal = std::io::stderr().is_terminal();
    match format {
        Format::Auto if is_terminal => layer.boxed(),
        Format::Text => layer.with_ansi(is_terminal).boxed(),
        Format::Auto | Format::Json => {
            layer.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed()
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(provider) = self.0.take() {
            // Bounded by the exporter's own time-out; what cannot be sent is given up.
            let _ = provider.shutdown();
        }
    }
}

//! Tracing and OpenTelemetry: the log on stderr, spans and metrics over OTLP where the standard `OTEL_*` variables ask
//! for them, the audit over OTLP where the settings do, and metrics for scrapers of the admin endpoint.
//!
//! A slow or absent reader of the log or collector never delays a call: lines, spans and records wait in bounded queues
//! and are dropped when those are full. Not here: the contents of spans and lines, which stand where they are recorded.

pub mod attribute;
pub mod audit;
mod line;
mod log_queue;
pub mod metric;
pub mod otlp;
pub mod sampling;
mod setup;

use std::{
    collections::HashMap,
    io::IsTerminal,
    panic::{self, PanicHookInfo},
    sync::mpsc,
    thread,
    time::Duration,
};

pub use self::setup::{Batch, Format, Settings, SetupError};
use self::{log_queue::LogQueue, metric::export::Scrape, otlp::Otlp};
use opentelemetry::{
    KeyValue, global,
    propagation::TextMapPropagator,
    trace::{FutureExt, TraceContextExt, TraceId, TracerProvider},
};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    logs::SdkLoggerProvider,
    metrics::SdkMeterProvider,
    propagation::TraceContextPropagator,
    resource::TelemetryResourceDetector,
    trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider},
};
use tracing::{Metadata, Span, Subscriber, level_filters::LevelFilter};
use tracing_opentelemetry::OpenTelemetrySpanExt;
use tracing_subscriber::{
    EnvFilter, Layer,
    filter::{FilterExt, Targets, dynamic_filter_fn, filter_fn},
    layer::{self, SubscriberExt},
    registry::LookupSpan,
    util::SubscriberInitExt,
};
use uuid::Uuid;

use toolwire_base::clock;

/// The events that [`otlp`] logs itself, once instead of at every failure: their target and the beginning of their
/// names.
const LOGGED_ONCE: (&str, &str) = ("opentelemetry-otlp", "Export.");

/// Maximum time that shutdown waits for the reader of the log.
const LOG_FLUSH_TIMEOUT: Duration = Duration::from_millis(250);

/// Maximum time that shutdown waits for collectors.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(2);

/// The time that shutdown waits for collectors even after a drain that used up its own.
const MIN_EXPORT_TIMEOUT: Duration = Duration::from_millis(250);

/// Flushes what is left of the log, traces, metrics and the audit when the process ends.
#[derive(Debug)]
#[must_use]
pub struct Guard {
    log: LogQueue,
    export_timeout: Duration,
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
    audit: Option<SdkLoggerProvider>,
    scrape: Option<Scrape>,
}

impl Guard {
    /// Reads the metrics, if they can be scraped.
    pub fn scrape(&self) -> Option<Scrape> {
        self.scrape.clone()
    }

    /// Limits the flush to the time that the process has left: a collector that takes longer loses what remains.
    pub fn end_within(&mut self, left: Duration) {
        self.export_timeout = left.clamp(MIN_EXPORT_TIMEOUT, EXPORT_TIMEOUT);
    }
}

/// Sets up logging and tracing for the process. Must run within a Tokio runtime, which the exporter uses.
pub fn init(settings: &Settings) -> Result<Guard, SetupError> {
    global::set_text_map_propagator(TraceContextPropagator::new());
    let resource = resource(settings);
    let traces = settings.traces.as_ref().map(|otlp| provider(otlp, settings, resource.clone()));
    let traces = traces.transpose()?;
    let audit = settings.audit.as_ref().map(|otlp| audit::start(otlp, settings, resource.clone()));
    let audit = audit.transpose()?;
    let (metrics, scrape) = metric::export::start(settings, resource)?;
    let filter = EnvFilter::try_new(&settings.filter)?;
    // Events alone: a line is complete in itself, and spans are for traces.
    let queue = LogQueue::start(std::io::stderr()).map_err(SetupError::Log)?;
    let log = log_layer(settings.format, queue.clone()).with_filter(
        filter.and(filter_fn(|metadata: &Metadata<'_>| metadata.is_event() && is_logged(metadata))),
    );
    // A list rather than an `Option` of a layer: an absent layer is interested in everything, so that every span would
    // be recorded without a consumer.
    let mut layers = vec![log.boxed()];
    if let Some(provider) = &traces {
        sampling::install(settings.sampling);
        layers.push(span_layer(provider).with_filter(dynamic_filter_fn(is_traced)).boxed());
    }
    tracing_subscriber::registry().with(layers).try_init()?;
    // Last: until here, the default hook prints panics, which have no log to go to yet.
    panic::set_hook(Box::new(log_panic));
    Ok(Guard { log: queue, export_timeout: EXPORT_TIMEOUT, traces, metrics, audit, scrape })
}

/// The layer that turns Toolwire's spans into OpenTelemetry spans, without the attributes of source code and threads.
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

/// A duration in milliseconds, to the microsecond, as log lines show it.
pub fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// Attaches the current trace to work that is spawned as a task of its own, and may outlive the current span.
pub fn continuing_trace<F: Future>(work: F) -> impl Future<Output = F::Output> + use<F> {
    work.with_context(Span::current().context())
}

/// Links the current span to the one that a `traceparent` names, if it names one.
pub fn link_to(traceparent: &str) {
    let carrier = HashMap::from([("traceparent".to_owned(), traceparent.to_owned())]);
    let context = TraceContextPropagator::new().extract(&carrier);
    let named = context.span().span_context().clone();
    let span = Span::current();
    if named.is_valid() && !span.is_disabled() {
        span.add_link(named);
    }
}

/// The trace that the current span belongs to; `None` where nothing is traced.
pub fn current_trace_id() -> Option<TraceId> {
    let context = Span::current().context();
    let span = context.span();
    let span_context = span.span_context();
    span_context.is_valid().then(|| span_context.trace_id())
}

/// The trace that a `traceparent` header names, by W3C Trace Context; `None` if it is malformed.
pub fn trace_id_in(traceparent: &str) -> Option<TraceId> {
    let mut parts = traceparent.split('-');
    let (version, trace_id, parent_id, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |part: &str, length| {
        part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    // Later versions may have further parts.
    let is_known = is_hex(version, 2) && version != "ff" && (version != "00" || parts.next().is_none());
    let is_valid = is_known && is_hex(trace_id, 32) && is_hex(parent_id, 16) && is_hex(flags, 2);
    let trace_id = TraceId::from_hex(trace_id).ok().filter(|id| *id != TraceId::INVALID)?;
    (is_valid && parent_id.bytes().any(|byte| byte != b'0')).then_some(trace_id)
}

/// Whether a span belongs to a request that is traced: its own, or one below it.
fn is_traced<S>(metadata: &Metadata<'_>, context: &layer::Context<'_, S>) -> bool
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let is_request = matches!(metadata.name(), attribute::RPC | attribute::HTTP);
    is_request || context.lookup_current().is_some() || sampling::is_within_trace()
}

/// A tracer provider that exports every span it gets: sampling was decided before.
fn provider(otlp: &Otlp, settings: &Settings, resource: Resource) -> Result<SdkTracerProvider, SetupError> {
    let batch = &settings.batch;
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(batch.queue)
        .with_max_export_batch_size(batch.size)
        .with_scheduled_delay(batch.delay)
        .build();
    let processor =
        BatchSpanProcessor::builder(otlp::spans(otlp, &settings.egress)?).with_batch_config(config).build();
    let builder = SdkTracerProvider::builder().with_span_processor(processor);
    Ok(builder.with_sampler(Sampler::AlwaysOn).with_resource(resource).build())
}

/// The resource that spans, metrics and the audit come from. A later attribute overrides an earlier one, so that what
/// is configured prevails.
fn resource(settings: &Settings) -> Resource {
    let instance = Uuid::new_v4().to_string();
    let ours = [("service.version", env!("CARGO_PKG_VERSION")), ("service.instance.id", &*instance)];
    let attribute = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
    // Not from the SDK's detector of the environment: it does not decode percent-encoding.
    Resource::builder_empty()
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_attributes(ours.map(|(key, value)| attribute(key, value)))
        .with_attributes(settings.attributes.iter().map(|(key, value)| attribute(key, value)))
        .with_service_name(settings.service_name.clone())
        .build()
}

/// Crates whose events are not logged: clients of models and of MCP log the texts of requests and responses, and what
/// checks certificates says once more what the failure of the connection says.
const UNLOGGED: [&str; 3] = ["genai", "rmcp", "rustls_platform_verifier"];

/// Whether an event may be logged at all.
fn is_logged(metadata: &Metadata<'_>) -> bool {
    !is_logged_once(metadata) && !UNLOGGED.iter().any(|it| metadata.target().starts_with(it))
}

fn is_logged_once(metadata: &Metadata<'_>) -> bool {
    let (target, name) = LOGGED_ONCE;
    metadata.target() == target && metadata.name().starts_with(name)
}

/// Logs a panic as one line, in the form of the log.
fn log_panic(info: &PanicHookInfo<'_>) {
    let location = info.location().map(ToString::to_string);
    tracing::error!(location, reason = info.payload_as_str(), "panicked");
}

fn log_layer<S>(format: Format, queue: LogQueue) -> Box<dyn Layer<S> + Send + Sync>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let layer = tracing_subscriber::fmt::layer().with_writer(queue);
    let is_terminal = std::io::stderr().is_terminal();
    match format {
        Format::Auto if is_terminal => layer.boxed(),
        Format::Text => layer.with_ansi(is_terminal).boxed(),
        Format::Auto | Format::Json => layer.json().event_format(line::Json).boxed(),
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let (metrics, traces, audit) = (self.metrics.take(), self.traces.take(), self.audit.take());
        let (done, flushed) = mpsc::channel();
        // One thread each, never joined: a collector that hangs must not hold up shutdown.
        let exporters = [
            metrics.map(|it| Box::new(move || it.shutdown()) as Box<dyn FnOnce() -> OTelSdkResult + Send>),
            traces.map(|it| Box::new(move || it.shutdown()) as _),
            audit.map(|it| Box::new(move || it.shutdown()) as _),
        ];
        for shut_down in exporters.into_iter().flatten() {
            let done = done.clone();
            thread::spawn(move || done.send(shut_down()));
        }
        // So that the loop below ends with the last thread.
        drop(done);
        let end = clock::now() + self.export_timeout;
        while flushed.recv_timeout(clock::remaining(end)).is_ok() {}
        // After the exporters, whose failures are lines of the log.
        self.log.flush(LOG_FLUSH_TIMEOUT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_well_formed_traceparent_names_a_trace() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let of = |text: &str| trace_id_in(text).map(|id| id.to_string());
        for good in ["00-{}-b7ad6b7169203331-01", "cc-{}-b7ad6b7169203331-00-more"] {
            assert_eq!(of(&good.replace("{}", trace)).as_deref(), Some(trace), "{good}");
        }
        let bad = [
            "",
            "00-{}",
            "00-{}-b7ad6b7169203331",
            "ff-{}-b7ad6b7169203331-01",
            "00-{}-0000000000000000-01",
            "00-{}-b7ad6b7169203331-01-more",
            "00-{}-B7AD6B7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ];
        for bad in bad {
            assert_eq!(of(&bad.replace("{}", trace)), None, "{bad}");
        }
    }
}

//! Tracing and OpenTelemetry: the log on stderr, spans and metrics over OTLP where the standard `OTEL_*` variables ask
//! for them, and metrics for scrapers of the admin endpoint.
//!
//! A reader of the log or a collector of spans that is slow or absent costs calls nothing: lines and spans wait in
//! bounded queues and are dropped when those are full. Not here: what a span or a log line says, which stands where it
//! is made.

pub mod attribute;
mod line;
mod log_queue;
pub mod metric;
pub mod otlp;
pub mod sampling;
mod setup;

use std::{
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
    trace::{FutureExt, TraceContextExt, TraceId, TracerProvider},
};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
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

/// How long shutdown waits for the reader of the log.
const LOG_FLUSH_TIMEOUT: Duration = Duration::from_millis(250);

/// How long it waits for collectors.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(2);

/// How long it waits for collectors after a drain that took all its time.
const LEAST_EXPORT_TIMEOUT: Duration = Duration::from_millis(250);

/// Flushes what is left of the log, traces and metrics when the process ends.
#[derive(Debug)]
#[must_use]
pub struct Guard {
    log: LogQueue,
    export_timeout: Duration,
    traces: Option<SdkTracerProvider>,
    metrics: Option<SdkMeterProvider>,
    scrape: Option<Scrape>,
}

impl Guard {
    /// Reads the metrics, if they can be scraped.
    pub fn scrape(&self) -> Option<Scrape> {
        self.scrape.clone()
    }

    /// The process should end within this time: collectors that take longer do not get everything.
    pub fn end_within(&mut self, left: Duration) {
        self.export_timeout = left.clamp(LEAST_EXPORT_TIMEOUT, EXPORT_TIMEOUT);
    }
}

/// Sets up logging and tracing for the process. Within a Tokio runtime, which the exporter uses.
pub fn init(settings: &Settings) -> Result<Guard, SetupError> {
    global::set_text_map_propagator(TraceContextPropagator::new());
    let resource = resource(settings);
    let traces = settings.traces.as_ref().map(|otlp| provider(otlp, &settings.batch, resource.clone()));
    let traces = traces.transpose()?;
    let (metrics, scrape) = metric::export::start(settings, resource)?;
    let filter = EnvFilter::try_new(&settings.filter)?;
    // A line says what it has to say by itself; spans are for traces.
    let queue = LogQueue::start(std::io::stderr()).map_err(SetupError::Log)?;
    let log = log_layer(settings.format, queue.clone()).with_filter(
        filter.and(filter_fn(|metadata: &Metadata<'_>| metadata.is_event() && is_logged(metadata))),
    );
    // A list, because an absent layer would have every span recorded without a consumer.
    let mut layers = vec![log.boxed()];
    if let Some(provider) = &traces {
        sampling::install(settings.sampling);
        layers.push(span_layer(provider).with_filter(dynamic_filter_fn(is_traced)).boxed());
    }
    tracing_subscriber::registry().with(layers).try_init()?;
    panic::set_hook(Box::new(log_panic));
    Ok(Guard { log: queue, export_timeout: EXPORT_TIMEOUT, traces, metrics, scrape })
}

/// The layer that makes OpenTelemetry spans of Toolwire's spans, lean on attributes.
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

/// A duration as log lines give it, to the microsecond.
pub fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// Work for a task of its own: it goes on in the trace of the current span, which can end before it.
pub fn continuing_trace<F: Future>(work: F) -> impl Future<Output = F::Output> + use<F> {
    work.with_context(Span::current().context())
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
    // Later versions may say more after the flags.
    let is_known = is_hex(version, 2) && version != "ff" && (version != "00" || parts.next().is_none());
    let is_valid = is_known && is_hex(trace_id, 32) && is_hex(parent_id, 16) && is_hex(flags, 2);
    let trace_id = TraceId::from_hex(trace_id).ok().filter(|id| *id != TraceId::INVALID)?;
    (is_valid && parent_id.bytes().any(|byte| byte != b'0')).then_some(trace_id)
}

/// Whether a span belongs to an RPC that is traced: its own, or one below it.
fn is_traced<S>(metadata: &Metadata<'_>, context: &layer::Context<'_, S>) -> bool
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    metadata.name() == attribute::RPC || context.lookup_current().is_some() || sampling::is_within_trace()
}

/// A tracer provider that exports. It gets nothing but what is to be exported.
fn provider(otlp: &Otlp, batch: &Batch, resource: Resource) -> Result<SdkTracerProvider, SetupError> {
    let config = BatchConfigBuilder::default()
        .with_max_queue_size(batch.queue)
        .with_max_export_batch_size(batch.size)
        .with_scheduled_delay(batch.delay)
        .build();
    let processor = BatchSpanProcessor::builder(otlp::spans(otlp)?).with_batch_config(config).build();
    let builder = SdkTracerProvider::builder().with_span_processor(processor);
    Ok(builder.with_sampler(Sampler::AlwaysOn).with_resource(resource).build())
}

/// What spans and metrics come from. What is configured of the service stands; a later attribute is above an earlier
/// one.
fn resource(settings: &Settings) -> Resource {
    let instance = Uuid::new_v4().to_string();
    let ours = [("service.version", env!("CARGO_PKG_VERSION")), ("service.instance.id", &*instance)];
    let attribute = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
    // Without the SDK's own reading of the environment, which decodes nothing.
    Resource::builder_empty()
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_attributes(ours.map(|(key, value)| attribute(key, value)))
        .with_attributes(settings.attributes.iter().map(|(key, value)| attribute(key, value)))
        .with_service_name(settings.service_name.clone())
        .build()
}

/// Whether an event may be logged at all: what the clients of models say of failures holds what was sent and what came.
fn is_logged(metadata: &Metadata<'_>) -> bool {
    !is_logged_once(metadata) && !metadata.target().starts_with("genai")
}

fn is_logged_once(metadata: &Metadata<'_>) -> bool {
    let (target, name) = LOGGED_ONCE;
    metadata.target() == target && metadata.name().starts_with(name)
}

/// A panic is one more line of the log, in the log's form.
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
        let (metrics, traces) = (self.metrics.take(), self.traces.take());
        let (done, flushed) = mpsc::channel();
        // One thread each, never joined: a collector that hangs must not hold up shutdown.
        let senders = [
            metrics.map(|it| Box::new(move || it.shutdown()) as Box<dyn FnOnce() -> OTelSdkResult + Send>),
            traces.map(|it| Box::new(move || it.shutdown()) as _),
        ];
        for sender in senders.into_iter().flatten() {
            let done = done.clone();
            thread::spawn(move || done.send(sender()));
        }
        drop(done);
        let end = clock::now() + self.export_timeout;
        while flushed.recv_timeout(clock::remaining(end)).is_ok() {}
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

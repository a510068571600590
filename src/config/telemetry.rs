//! Whether traces and metrics are exported, by the standard `OTEL_*` variables and by nothing else; and how they and
//! the audit are, which `[audit]` switches on.
//!
//! One table lists every variable that is read (`variables`). An unknown variable, an invalid value, and a value that
//! another variable overrides are warnings (`warnings`): the specification requires that none of them prevents the
//! service from starting. Not here: compression, temporality and span limits, which the SDK reads itself; the table
//! only validates them.

mod endpoint;
mod kind;
mod pairs;
#[cfg(test)]
mod tests;
mod variables;
mod warnings;

use std::time::Duration;

use self::{
    kind::split,
    variables::{SERVICE_NAME, Variables},
    warnings::Exports,
};
use super::{Environment, reader::Reader, setting::Setting};
use toolwire_telemetry::{
    Batch,
    otlp::{Otlp, Protocol},
    sampling::Sampling,
};

#[derive(Clone, Debug, PartialEq)]
pub struct Telemetry {
    /// How traces are exported over OTLP. `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or
    /// `OTEL_TRACES_EXPORTER=otlp` switches it on, `OTEL_SDK_DISABLED=true` or `OTEL_TRACES_EXPORTER=none` off.
    /// Default off.
    pub traces: Option<Otlp>,
    /// How metrics are exported over OTLP. `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT` or
    /// `OTEL_METRICS_EXPORTER=otlp` switches it on, `OTEL_SDK_DISABLED=true` or another `OTEL_METRICS_EXPORTER` off.
    /// Default off.
    pub metrics: Option<Otlp>,
    /// How the audit is exported over OTLP. `audit.otlp` switches it on, `OTEL_SDK_DISABLED=true` off. Default off.
    pub audit: Option<Otlp>,
    /// Which RPCs are traced. `OTEL_TRACES_SAMPLER`, `OTEL_TRACES_SAMPLER_ARG`.
    pub sampling: Sampling,
    /// How spans wait to be sent. `OTEL_BSP_…`.
    pub batch: Batch,
    /// How often metrics are sent. `OTEL_METRIC_EXPORT_INTERVAL`, default 60 s.
    pub interval: Duration,
    /// The service that spans and metrics name. `OTEL_SERVICE_NAME`, or else `service.name` of
    /// `OTEL_RESOURCE_ATTRIBUTES`, default `toolwire`.
    pub service_name: String,
    /// What else they come from. `OTEL_RESOURCE_ATTRIBUTES`.
    pub attributes: Vec<(String, String)>,
    /// Where a trace is shown, with `{trace_id}` in the place of its id: `telemetry.trace_url`,
    /// `TOOLWIRE_TELEMETRY_TRACE_URL`. Default none.
    pub trace_url: Option<String>,
    /// A warning, one sentence, for each variable without effect.
    pub warnings: Vec<String>,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self {
            traces: None,
            metrics: None,
            audit: None,
            sampling: Sampling::default(),
            batch: Batch::default(),
            interval: Duration::from_mins(1),
            service_name: "toolwire".to_owned(),
            attributes: Vec::new(),
            trace_url: None,
            warnings: Vec::new(),
        }
    }
}

impl Telemetry {
    /// With whether metrics can be scraped, and the audit is to be sent, too.
    pub(super) fn read(reader: &mut Reader, is_scraped: bool, sends_audit: bool) -> Self {
        let mut telemetry = Self::from_environment(reader.environment(), is_scraped, sends_audit);
        telemetry.trace_url = read_trace_url(reader);
        if sends_audit && telemetry.audit.is_none() {
            reader.warn("audit.otlp", "it has no effect: OTEL_SDK_DISABLED is true");
        }
        if [&telemetry.traces, &telemetry.metrics, &telemetry.audit].iter().any(|it| it.is_some()) {
            for (name, what) in endpoint::problems(reader.environment()) {
                reader.problem_of_variable(name, what);
            }
        }
        let state = |otlp: &Option<Otlp>| match otlp {
            None => "off",
            Some(Otlp { protocol: Protocol::Grpc, .. }) => "on (grpc)",
            Some(Otlp { protocol: Protocol::Http, .. }) => "on (http/protobuf)",
        };
        let (traces, metrics) = (state(&telemetry.traces), state(&telemetry.metrics));
        let audit = state(&telemetry.audit);
        let service = &telemetry.service_name;
        let what = format!(
            "Traces over OTLP are {traces}, metrics {metrics}, the audit {audit}, for the service {service:?}"
        );
        reader.note(format!("{what} (OTEL_* variables)"));
        telemetry
    }

    fn from_environment(environment: &Environment, is_scraped: bool, sends_audit: bool) -> Self {
        let variables = Variables(environment);
        let default = Self::default();
        let attributes: Vec<_> = variables.attributes().collect();
        let named = attributes.iter().rfind(|(key, _)| key == SERVICE_NAME).map(|(_, name)| name.as_str());
        let service_name = variables.get("OTEL_SERVICE_NAME").or(named).unwrap_or(&default.service_name);
        let milliseconds = |name| variables.number(name).map(Duration::from_millis);
        let mut telemetry = Self {
            traces: is_on(variables, "TRACES").then(|| otlp(variables, "TRACES")),
            metrics: is_on(variables, "METRICS").then(|| otlp(variables, "METRICS")),
            audit: (sends_audit && !variables.is_true("OTEL_SDK_DISABLED")).then(|| otlp(variables, "LOGS")),
            sampling: sampling(variables),
            batch: batch(variables),
            interval: milliseconds("OTEL_METRIC_EXPORT_INTERVAL").unwrap_or(default.interval),
            service_name: service_name.to_owned(),
            attributes,
            trace_url: None,
            warnings: Vec::new(),
        };
        let exports = Exports {
            traces: telemetry.traces.as_ref(),
            metrics: telemetry.metrics.as_ref(),
            audit: telemetry.audit.as_ref(),
            batch_size: telemetry.batch.size,
            is_scraped,
        };
        telemetry.warnings = warnings::of(variables, &exports);
        telemetry
    }
}

/// Reads the address of traces.
fn read_trace_url(reader: &mut Reader) -> Option<String> {
    const KEY: &str = "telemetry.trace_url";
    let url: Option<String> = reader.optional(Setting::new(KEY, "TOOLWIRE_TELEMETRY_TRACE_URL"), None);
    let is_good = |url: &String| {
        url.contains("{trace_id}") && ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme))
    };
    if url.as_ref().is_some_and(|url| !is_good(url)) {
        let what = "must begin with https:// or http:// and hold {trace_id}, such as https://traces.example/{trace_id}";
        reader.problem(KEY, what);
    }
    url
}

/// Whether a signal is exported over OTLP. Unknown exporters in a list are ignored.
fn is_on(variables: Variables<'_>, signal: &str) -> bool {
    if variables.is_true("OTEL_SDK_DISABLED") {
        return false;
    }
    let exporters = variables.get(&format!("OTEL_{signal}_EXPORTER")).unwrap_or_default();
    let names = |name: &str| split(exporters).any(|it| it.eq_ignore_ascii_case(name));
    // Prometheus may be named too: it has the admin endpoint, whatever stands here.
    match (names("otlp"), names("none") || (signal == "METRICS" && names("prometheus"))) {
        (true, _) => true,
        (false, true) => false,
        (false, false) => variables.get(&variables.name_of(signal, "ENDPOINT")).is_some(),
    }
}

fn otlp(variables: Variables<'_>, signal: &str) -> Otlp {
    let of = |suffix| variables.get(&variables.name_of(signal, suffix));
    let protocol = match variables.word(&variables.name_of(signal, "PROTOCOL")) {
        Some("http/protobuf") => Protocol::Http,
        _ => Protocol::Grpc,
    };
    let endpoint = endpoint(variables, signal, protocol);
    Otlp {
        protocol,
        encrypted: endpoint.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://")),
        endpoint,
        headers: of("HEADERS").map(kind::headers).into_iter().flatten().filter_map(Result::ok).collect(),
        timeout: variables
            .number(&variables.name_of(signal, "TIMEOUT"))
            .map_or(Otlp::TIMEOUT, Duration::from_millis),
        ca: of("CERTIFICATE").map(Into::into),
        client: of("CLIENT_CERTIFICATE").zip(of("CLIENT_KEY")).map(|(cert, key)| (cert.into(), key.into())),
    }
}

/// The endpoint of a signal. Over HTTP the signal's path is appended to the common endpoint; over gRPC an endpoint
/// without a scheme uses TLS unless `…_INSECURE` is `true`.
fn endpoint(variables: Variables<'_>, signal: &str, protocol: Protocol) -> String {
    let name = variables.name_of(signal, "ENDPOINT");
    let given = variables.get(&name);
    match protocol {
        Protocol::Grpc => match given {
            Some(address) if address.contains("://") => address.to_owned(),
            Some(address) if variables.is_true(&variables.name_of(signal, "INSECURE")) => {
                format!("http://{address}")
            }
            Some(address) => format!("https://{address}"),
            None => "http://localhost:4317".to_owned(),
        },
        Protocol::Http if name.contains(signal) => given.unwrap_or_default().to_owned(),
        Protocol::Http => {
            let base = given.unwrap_or("http://localhost:4318").trim_end_matches('/');
            format!("{base}/v1/{}", signal.to_ascii_lowercase())
        }
    }
}

fn sampling(variables: Variables<'_>) -> Sampling {
    let Some(sampler) = variables.word("OTEL_TRACES_SAMPLER") else { return Sampling::default() };
    let (by_parent, root) = match sampler.strip_prefix("parentbased_") {
        Some(root) => (true, root),
        None => (false, sampler),
    };
    let ratio = match root {
        "always_on" => 1.0,
        "always_off" => 0.0,
        _ => variables.ratio("OTEL_TRACES_SAMPLER_ARG").unwrap_or(1.0),
    };
    Sampling { by_parent, ratio }
}

fn batch(variables: Variables<'_>) -> Batch {
    let default = Batch::default();
    let size = |name| variables.number(name).and_then(|it| usize::try_from(it).ok());
    let queue = size("OTEL_BSP_MAX_QUEUE_SIZE").unwrap_or(default.queue);
    Batch {
        delay: variables.number("OTEL_BSP_SCHEDULE_DELAY").map_or(default.delay, Duration::from_millis),
        queue,
        size: size("OTEL_BSP_MAX_EXPORT_BATCH_SIZE").unwrap_or(default.size).min(queue),
    }
}

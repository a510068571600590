//! Whether traces and metrics are exported, and how: by the standard `OTEL_*` variables, and by nothing else.
//!
//! Not here: the exporter's own settings (endpoint, headers, time-out), which the SDK reads.

mod endpoint;

use super::{Environment, reader::Reader};
use crate::telemetry::otlp::{Otlp, Protocol};

/// Traces and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// How traces are exported over OTLP. `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`
    /// switches it on, `OTEL_SDK_DISABLED=true` or `OTEL_TRACES_EXPORTER=none` off. Default off.
    pub traces: Option<Otlp>,
    /// How metrics are exported over OTLP. `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT` or
    /// `OTEL_METRICS_EXPORTER=otlp` switches it on, `OTEL_SDK_DISABLED=true` or another `OTEL_METRICS_EXPORTER` off.
    /// Default off.
    pub metrics: Option<Otlp>,
    /// The service that spans and metrics name. `OTEL_SERVICE_NAME`, default `toolwire`.
    pub service_name: String,
    /// A protocol that was asked for and is not spoken. The `OTel` specification wants it ignored, with a warning.
    pub unknown_protocol: Option<String>,
}

impl Default for Telemetry {
    fn default() -> Self {
        let service_name = "toolwire".to_owned();
        Self { traces: None, metrics: None, service_name, unknown_protocol: None }
    }
}

impl Telemetry {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let telemetry = Self::from_environment(reader.environment());
        if telemetry.traces.is_some() || telemetry.metrics.is_some() {
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
        let service = &telemetry.service_name;
        let what = format!("Traces over OTLP are {traces}, metrics {metrics}, for the service {service:?}");
        reader.note(format!("{what} (OTEL_* variables)"));
        telemetry
    }

    /// What the environment says.
    fn from_environment(environment: &Environment) -> Self {
        let is =
            |name, word: &str| environment.get(name).is_some_and(|value| value.eq_ignore_ascii_case(word));
        let has_endpoint = |signal| of_signal(environment, signal, "ENDPOINT").is_some();
        let is_off = is("OTEL_SDK_DISABLED", "true");
        let traces = has_endpoint("TRACES") && !is("OTEL_TRACES_EXPORTER", "none");
        let metrics = match environment.get("OTEL_METRICS_EXPORTER") {
            // Prometheus may be named too: it has the admin endpoint, whatever stands here.
            Some(exporters) => exporters.split(',').any(|it| it.trim().eq_ignore_ascii_case("otlp")),
            None => has_endpoint("METRICS"),
        };
        let protocols = ["TRACES", "METRICS"].map(|signal| of_signal(environment, signal, "PROTOCOL"));
        let is_unknown = |name: &&str| protocol(name).is_none();
        Self {
            traces: (traces && !is_off).then(|| otlp(environment, "TRACES")),
            metrics: (metrics && !is_off).then(|| otlp(environment, "METRICS")),
            service_name: environment.get("OTEL_SERVICE_NAME").unwrap_or("toolwire").to_owned(),
            unknown_protocol: protocols.into_iter().flatten().find(is_unknown).map(str::to_owned),
        }
    }
}

/// The variable of one signal, or else that of all: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`,
/// `OTEL_EXPORTER_OTLP_ENDPOINT`.
fn of_signal<'a>(environment: &'a Environment, signal: &str, name: &str) -> Option<&'a str> {
    let own = environment.get(&format!("OTEL_EXPORTER_OTLP_{signal}_{name}"));
    own.or_else(|| environment.get(&format!("OTEL_EXPORTER_OTLP_{name}")))
}

fn otlp(environment: &Environment, signal: &str) -> Otlp {
    let of = |name| of_signal(environment, signal, name);
    Otlp {
        protocol: of("PROTOCOL").and_then(protocol).unwrap_or_default(),
        encrypted: of("ENDPOINT").is_some_and(|endpoint| is_encrypted(endpoint, of("INSECURE"))),
        ca: of("CERTIFICATE").map(Into::into),
    }
}

/// By its scheme; an endpoint of gRPC may leave that out, and is encrypted unless it is said to be insecure.
fn is_encrypted(endpoint: &str, insecure: Option<&str>) -> bool {
    match endpoint.split_once("://") {
        Some((scheme, _)) => scheme.eq_ignore_ascii_case("https"),
        None => !insecure.is_some_and(|value| value.eq_ignore_ascii_case("true")),
    }
}

fn protocol(name: &str) -> Option<Protocol> {
    match name.to_ascii_lowercase().as_str() {
        "grpc" => Some(Protocol::Grpc),
        "http/protobuf" => Some(Protocol::Http),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Telemetry {
        Telemetry::from_environment(&Environment::of(variables))
    }

    #[test]
    fn an_endpoint_switches_traces_on() {
        assert_eq!(of(&[]), Telemetry::default());
        assert!(of(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317")]).traces.is_some());
        assert!(of(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4317")]).traces.is_some());
        assert_eq!(of(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]).traces, None);
    }

    #[test]
    fn metrics_have_their_own_endpoint_and_switch() {
        assert!(of(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317")]).metrics.is_some());
        let own = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://collector:4317");
        assert!(of(&[own]).metrics.is_some() && of(&[own]).traces.is_none());
        assert!(of(&[("OTEL_METRICS_EXPORTER", "prometheus, otlp")]).metrics.is_some());
        assert_eq!(of(&[own, ("OTEL_METRICS_EXPORTER", "none")]).metrics, None);
        assert_eq!(of(&[own, ("OTEL_SDK_DISABLED", "true")]).metrics, None);
    }

    #[test]
    fn the_standard_switches_turn_them_off() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317");
        assert_eq!(of(&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")]).traces, None);
        assert_eq!(of(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]).traces, None);
        assert_eq!(of(&[("OTEL_SERVICE_NAME", "tools-eu")]).service_name, "tools-eu");
    }

    #[test]
    fn each_signal_has_its_protocol_and_its_authorities() {
        let told = of(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "HTTP/protobuf"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://collector:4317"),
            ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "ca.pem"),
        ]);
        let traces = Otlp { protocol: Protocol::Http, encrypted: true, ca: Some("ca.pem".into()) };
        assert_eq!((told.traces, told.metrics), (Some(traces), Some(Otlp::default())));
        assert_eq!(told.unknown_protocol, None);
    }

    #[test]
    fn a_protocol_that_is_not_spoken_is_ignored_and_remembered() {
        let told = of(&[
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json"),
        ]);
        assert_eq!(told.traces, Some(Otlp::default()));
        assert_eq!(told.unknown_protocol.as_deref(), Some("http/json"));
    }

    #[test]
    fn an_endpoint_without_a_scheme_is_encrypted_unless_it_is_insecure() {
        assert!(is_encrypted("collector:4317", None) && !is_encrypted("collector:4317", Some("true")));
        assert!(is_encrypted("https://c", Some("true")) && !is_encrypted("http://c", None));
    }
}

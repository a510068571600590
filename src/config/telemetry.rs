//! Whether traces and metrics are exported: by the standard `OTEL_*` variables, and by nothing else.
//!
//! Not here: the exporter's own settings, which the SDK reads.

use super::{Environment, reader::Reader};

/// Traces and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Telemetry {
    /// Whether traces are exported over OTLP. `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`
    /// switches it on, `OTEL_SDK_DISABLED=true` or `OTEL_TRACES_EXPORTER=none` off. Default off.
    pub otlp: bool,
    /// Whether metrics are exported over OTLP. `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT` or
    /// `OTEL_METRICS_EXPORTER=otlp` switches it on, `OTEL_SDK_DISABLED=true` or another `OTEL_METRICS_EXPORTER` off.
    /// Default off.
    pub otlp_metrics: bool,
    /// The service that spans and metrics name. `OTEL_SERVICE_NAME`, default `toolwire`.
    pub service_name: String,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { otlp: false, otlp_metrics: false, service_name: "toolwire".to_owned() }
    }
}

impl Telemetry {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let telemetry = Self::from_environment(reader.environment());
        let state = |is_on| if is_on { "on" } else { "off" };
        let (traces, metrics) = (state(telemetry.otlp), state(telemetry.otlp_metrics));
        let service = &telemetry.service_name;
        let what = format!("Traces over OTLP are {traces}, metrics {metrics}, for the service {service:?}");
        reader.note(format!("{what} (OTEL_* variables)"));
        telemetry
    }

    /// What the environment says.
    fn from_environment(environment: &Environment) -> Self {
        let is =
            |name, word: &str| environment.get(name).is_some_and(|value| value.eq_ignore_ascii_case(word));
        let is_set = |name| environment.get(name).is_some();
        let has_endpoint = |own| is_set("OTEL_EXPORTER_OTLP_ENDPOINT") || is_set(own);
        let is_off = is("OTEL_SDK_DISABLED", "true");
        let traces =
            has_endpoint("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") && !is("OTEL_TRACES_EXPORTER", "none");
        let metrics = match environment.get("OTEL_METRICS_EXPORTER") {
            // Prometheus may be named too: it has the admin endpoint, whatever stands here.
            Some(exporters) => exporters.split(',').any(|it| it.trim().eq_ignore_ascii_case("otlp")),
            None => has_endpoint("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"),
        };
        let service_name = environment.get("OTEL_SERVICE_NAME").unwrap_or("toolwire").to_owned();
        Self { otlp: traces && !is_off, otlp_metrics: metrics && !is_off, service_name }
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
        assert!(of(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317")]).otlp);
        assert!(of(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4317")]).otlp);
        assert!(!of(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]).otlp);
    }

    #[test]
    fn metrics_have_their_own_endpoint_and_switch() {
        assert!(of(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317")]).otlp_metrics);
        let own = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://collector:4317");
        assert!(of(&[own]).otlp_metrics && !of(&[own]).otlp);
        assert!(of(&[("OTEL_METRICS_EXPORTER", "prometheus, otlp")]).otlp_metrics);
        assert!(!of(&[own, ("OTEL_METRICS_EXPORTER", "none")]).otlp_metrics);
        assert!(!of(&[own, ("OTEL_SDK_DISABLED", "true")]).otlp_metrics);
    }

    #[test]
    fn the_standard_switches_turn_them_off() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317");
        assert!(!of(&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")]).otlp);
        assert!(!of(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]).otlp);
        assert_eq!(of(&[("OTEL_SERVICE_NAME", "tools-eu")]).service_name, "tools-eu");
    }
}

//! Warnings about variables without effect: unknown ones, invalid values, and those that another variable overrides.

use http::Uri;

use super::{
    kind::split,
    variables::{SERVICE_NAME, Scope, Variables, did_you_mean, of_exporter, variable},
};
use toolwire_telemetry::otlp::{Otlp, Protocol};

/// The settings that result from the variables.
pub(super) struct Exports<'a> {
    pub(super) traces: Option<&'a Otlp>,
    pub(super) metrics: Option<&'a Otlp>,
    pub(super) audit: Option<&'a Otlp>,
    /// The size of a batch of spans.
    pub(super) batch_size: usize,
    /// Whether metrics can be scraped.
    pub(super) is_scraped: bool,
}

/// The variables and the resulting settings.
struct Context<'a> {
    variables: Variables<'a>,
    exports: &'a Exports<'a>,
}

/// One sentence for each variable without effect.
pub(super) fn of(variables: Variables<'_>, exports: &Exports<'_>) -> Vec<String> {
    let look = Context { variables, exports };
    let mut warnings = Vec::new();
    let mut disabled = Vec::new();
    for (name, value) in variables.all() {
        let Some(row) = variable(name) else {
            let instead = did_you_mean(name).map(|it| format!("; did you mean {it}?")).unwrap_or_default();
            warnings.push(format!("{name} is not read and has no effect{instead}"));
            continue;
        };
        if let Some(problem) = row.kind.problem(value) {
            warnings.push(format!("{name} {problem}"));
        } else if variables.is_true("OTEL_SDK_DISABLED")
            && !matches!(row.scope, Scope::Always | Scope::Resource)
        {
            disabled.push(name);
        } else if let Some(reason) = look.in_vain(name, row.scope, value) {
            warnings.push(format!("{name} has no effect: {reason}"));
        }
    }
    if !disabled.is_empty() {
        warnings.push(format!("OTEL_SDK_DISABLED leaves without effect: {}", disabled.join(", ")));
    }
    warnings
}

impl Context<'_> {
    /// Why a valid value has no effect.
    fn in_vain(&self, name: &str, scope: Scope, value: &str) -> Option<String> {
        let Exports { traces, metrics, audit, is_scraped, .. } = self.exports;
        let is_nothing_sent = traces.is_none() && metrics.is_none() && audit.is_none();
        let off = match scope {
            Scope::Traces if traces.is_none() => "traces are not exported",
            Scope::Metrics if metrics.is_none() => "metrics are not exported over OTLP",
            Scope::Audit if audit.is_none() => "the audit is not exported; set otlp = true in [audit]",
            Scope::Otlp if is_nothing_sent => "neither traces nor metrics are exported over OTLP",
            Scope::Resource if is_nothing_sent && !is_scraped => "neither traces nor metrics are exported",
            _ => return self.overridden(name, value),
        };
        Some(off.to_owned())
    }

    fn overridden(&self, name: &str, value: &str) -> Option<String> {
        match name {
            "OTEL_TRACES_SAMPLER_ARG" => {
                let sampler = self.variables.word("OTEL_TRACES_SAMPLER").unwrap_or("parentbased_always_on");
                let is_used = sampler.ends_with("traceidratio");
                (!is_used)
                    .then(|| format!("the sampler {sampler} takes no argument; set OTEL_TRACES_SAMPLER"))
            }
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE" => {
                let taken = self.exports.batch_size;
                (value.parse() != Ok(taken))
                    .then(|| format!("it is more than OTEL_BSP_MAX_QUEUE_SIZE; {taken} is taken"))
            }
            "OTEL_METRICS_EXPORTER" => {
                let is_prometheus = split(value).any(|it| it.eq_ignore_ascii_case("prometheus"));
                (is_prometheus && !self.exports.is_scraped)
                    .then(|| "prometheus scrapes the admin endpoint, which is off; set --admin".to_owned())
            }
            "OTEL_RESOURCE_ATTRIBUTES" => {
                let is_named = self.variables.attributes().any(|(key, _)| key == SERVICE_NAME);
                (is_named && self.variables.get("OTEL_SERVICE_NAME").is_some())
                    .then(|| format!("OTEL_SERVICE_NAME stands above its {SERVICE_NAME}"))
            }
            _ => self.unused_by_exporters(name),
        }
    }

    /// Why no exporter uses a variable of the OTLP exporter.
    fn unused_by_exporters(&self, name: &str) -> Option<String> {
        let (_, suffix) = of_exporter(name)?;
        let Exports { traces, metrics, audit, .. } = self.exports;
        let exporters = [("TRACES", traces), ("METRICS", metrics), ("LOGS", audit)];
        let users: Vec<_> = exporters
            .into_iter()
            .filter(|(signal, _)| self.variables.name_of(signal, suffix) == name)
            .filter_map(|(signal, otlp)| Some((signal, (*otlp)?)))
            .collect();
        if users.is_empty() {
            return Some("each signal that is exported has its own".to_owned());
        }
        let has_path =
            |endpoint: &str| endpoint.parse().is_ok_and(|uri: Uri| !matches!(uri.path(), "" | "/"));
        if suffix == "ENDPOINT"
            && users.iter().all(|(_, it)| it.protocol == Protocol::Grpc && has_path(&it.endpoint))
        {
            return Some("its path is not used over gRPC".to_owned());
        }
        let is_used = |(signal, otlp): &(&str, &Otlp)| match suffix {
            "CERTIFICATE" => otlp.encrypted,
            "CLIENT_CERTIFICATE" | "CLIENT_KEY" => otlp.encrypted && otlp.client.is_some(),
            "INSECURE" => {
                let address = self.variables.get(&self.variables.name_of(signal, "ENDPOINT"));
                otlp.protocol == Protocol::Grpc && address.is_some_and(|it| !it.contains("://"))
            }
            "ENDPOINT" => otlp.protocol == Protocol::Grpc || otlp.endpoint.contains("://"),
            _ => true,
        };
        let reason = match suffix {
            "CLIENT_CERTIFICATE" | "CLIENT_KEY" => {
                "it takes the other of CLIENT_CERTIFICATE and CLIENT_KEY too, and an endpoint with https://"
            }
            "CERTIFICATE" => "nothing is sent over TLS; write the endpoint with https://",
            "ENDPOINT" => "nothing can be sent over http/protobuf without http:// or https://",
            _ => "the scheme of the endpoint decides",
        };
        (!users.iter().any(is_used)).then(|| reason.to_owned())
    }
}

//! The table of all variables that are read. Any other variable whose name begins with `OTEL_` has no effect.

use super::{kind::Kind, pairs};
use crate::Environment;

/// The prefix of every variable of the specification.
const PREFIX: &str = "OTEL_";

/// The key of a service's name among the attributes of a resource.
pub(super) const SERVICE_NAME: &str = "service.name";

/// A length of time in milliseconds: up to a day.
const MILLISECONDS: Kind = Kind::Number(1..=86_400_000);

/// A number of spans. The queue takes memory for all of it at once.
const SPANS: Kind = Kind::Number(1..=1_000_000);

/// A limit of parts of a span.
const PARTS: Kind = Kind::Number(0..=u32::MAX as u64);

/// When a variable has an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Always,
    /// If traces, metrics or the audit are exported.
    Resource,
    /// If anything is exported over OTLP.
    Otlp,
    /// If traces are exported over OTLP.
    Traces,
    /// If metrics are exported over OTLP.
    Metrics,
    /// If the audit is exported over OTLP.
    Audit,
}

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) scope: Scope,
    pub(super) kind: Kind,
}

/// The variables other than those of the OTLP exporter.
const GENERAL: &[(&str, Scope, Kind)] = &[
    ("OTEL_SDK_DISABLED", Scope::Always, Kind::Flag),
    ("OTEL_TRACES_EXPORTER", Scope::Always, Kind::Words(&["otlp", "none"])),
    ("OTEL_METRICS_EXPORTER", Scope::Always, Kind::Words(&["otlp", "prometheus", "none"])),
    ("OTEL_LOGS_EXPORTER", Scope::Always, Kind::Words(&["none"])),
    ("OTEL_PROPAGATORS", Scope::Always, Kind::Words(&["tracecontext"])),
    ("OTEL_SERVICE_NAME", Scope::Resource, Kind::Text),
    ("OTEL_RESOURCE_ATTRIBUTES", Scope::Resource, Kind::Attributes),
    ("OTEL_TRACES_SAMPLER", Scope::Traces, Kind::Word(SAMPLERS)),
    ("OTEL_TRACES_SAMPLER_ARG", Scope::Traces, Kind::Ratio),
    ("OTEL_BSP_SCHEDULE_DELAY", Scope::Traces, MILLISECONDS),
    ("OTEL_BSP_MAX_QUEUE_SIZE", Scope::Traces, SPANS),
    ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", Scope::Traces, SPANS),
    ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", Scope::Traces, PARTS),
    ("OTEL_SPAN_EVENT_COUNT_LIMIT", Scope::Traces, PARTS),
    ("OTEL_SPAN_LINK_COUNT_LIMIT", Scope::Traces, PARTS),
    ("OTEL_METRIC_EXPORT_INTERVAL", Scope::Metrics, MILLISECONDS),
    ("OTEL_METRICS_EXEMPLAR_FILTER", Scope::Always, Kind::Word(&["always_off"])),
    (
        "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
        Scope::Metrics,
        Kind::Word(&["cumulative", "delta", "lowmemory"]),
    ),
    (
        "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
        Scope::Metrics,
        Kind::Word(&["explicit_bucket_histogram"]),
    ),
];

const SAMPLERS: &[&str] = &[
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
];

/// The variables of the OTLP exporter. Each exists for all signals together and for each signal.
const OF_EXPORTER: &[(&str, Kind)] = &[
    ("ENDPOINT", Kind::Endpoint),
    ("PROTOCOL", Kind::Word(&["grpc", "http/protobuf"])),
    ("HEADERS", Kind::Headers),
    ("TIMEOUT", MILLISECONDS),
    ("COMPRESSION", Kind::Word(&["gzip", "none"])),
    ("CERTIFICATE", Kind::Text),
    ("CLIENT_CERTIFICATE", Kind::Text),
    ("CLIENT_KEY", Kind::Text),
    ("INSECURE", Kind::Flag),
];

/// The variables of an environment that are in the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Variables<'a>(pub(super) &'a Environment);

impl<'a> Variables<'a> {
    /// The value, if it is valid by itself.
    pub(super) fn get(self, name: &str) -> Option<&'a str> {
        // A value that was not UTF-8 contains the replacement character since it was read.
        let value = self.0.get(name).filter(|value| !value.contains(char::REPLACEMENT_CHARACTER))?;
        let kind = variable(name)?.kind;
        // Invalid entries of a list are ignored, and an invalid flag is false.
        let is_used = matches!(kind, Kind::Flag | Kind::Words(_) | Kind::Headers | Kind::Attributes);
        (is_used || kind.problem(value).is_none()).then_some(value)
    }

    pub(super) fn is_true(self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    pub(super) fn word(self, name: &str) -> Option<&'static str> {
        variable(name)?.kind.word(self.get(name)?)
    }

    pub(super) fn number(self, name: &str) -> Option<u64> {
        variable(name)?.kind.number(self.get(name)?)
    }

    pub(super) fn ratio(self, name: &str) -> Option<f64> {
        Kind::ratio(self.get(name)?)
    }

    /// The attributes of the resource, decoded.
    pub(super) fn attributes(self) -> impl Iterator<Item = (String, String)> + use<'a> {
        let list = self.get("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        pairs::read(list).filter_map(Result::ok).map(|pair| (pair.key, pair.value))
    }

    /// The name of the variable that applies to a signal: the signal's own, or else the common one.
    pub(super) fn name_of(self, signal: &str, suffix: &str) -> String {
        let own = format!("OTEL_EXPORTER_OTLP_{signal}_{suffix}");
        if self.get(&own).is_some() { own } else { format!("OTEL_EXPORTER_OTLP_{suffix}") }
    }

    /// All variables with the specification's prefix, known or not.
    pub(super) fn all(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter(|(name, _)| name.starts_with(PREFIX))
    }
}

pub(super) fn variable(name: &str) -> Option<Variable> {
    if let Some((_, scope, kind)) = GENERAL.iter().find(|(it, ..)| *it == name) {
        return Some(Variable { scope: *scope, kind: kind.clone() });
    }
    let (scope, suffix) = of_exporter(name)?;
    let (_, kind) = OF_EXPORTER.iter().find(|(it, _)| *it == suffix)?;
    Some(Variable { scope, kind: kind.clone() })
}

/// The signal that a variable of the exporter is for, and the end of its name.
pub(super) fn of_exporter(name: &str) -> Option<(Scope, &str)> {
    let rest = name.strip_prefix("OTEL_EXPORTER_OTLP_")?;
    let of_signal = [("TRACES_", Scope::Traces), ("METRICS_", Scope::Metrics), ("LOGS_", Scope::Audit)];
    let own = of_signal.into_iter().find_map(|(signal, scope)| Some((scope, rest.strip_prefix(signal)?)));
    Some(own.unwrap_or((Scope::Otlp, rest)))
}

/// The known name at an edit distance of at most 2, to suggest in a warning.
pub(super) fn did_you_mean(name: &str) -> Option<String> {
    let of_exporter = OF_EXPORTER.iter().flat_map(|(suffix, _)| {
        ["", "TRACES_", "METRICS_", "LOGS_"].map(|signal| format!("OTEL_EXPORTER_OTLP_{signal}{suffix}"))
    });
    let mut known = GENERAL.iter().map(|(name, ..)| (*name).to_owned()).chain(of_exporter);
    known.find(|it| strsim::osa_distance(it, name) <= 2)
}

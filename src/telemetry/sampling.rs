//! Which RPCs are traced: decided once for each, before any span is made, as the standard `OTEL_TRACES_SAMPLER` says.
//!
//! What is not traced costs no span. What a traced RPC does belongs to its trace, so nothing below decides again.

use std::{env, sync::OnceLock};

use opentelemetry::{
    Context,
    trace::{SpanContext, SpanKind, TraceContextExt, TraceId},
};
use opentelemetry_sdk::trace::{Sampler, SamplingDecision, ShouldSample};

/// That of this process. Without one every RPC is traced for which somebody takes spans.
static SAMPLING: OnceLock<Sampling> = OnceLock::new();

/// How it is decided.
#[derive(Clone, Debug)]
struct Sampling {
    /// Whether the decision of a caller who traces counts.
    by_parent: bool,
    sampler: Sampler,
}

/// Decides from now on as the environment says. Only the first time in a process counts.
pub(super) fn install() {
    let variable = |name| env::var(name).unwrap_or_default();
    let (sampler, argument) = (variable("OTEL_TRACES_SAMPLER"), variable("OTEL_TRACES_SAMPLER_ARG"));
    let _ = SAMPLING.set(Sampling::parse(&sampler, &argument));
}

/// Whether an RPC is traced whose caller names this span of its own, if any.
pub fn is_traced(parent: &SpanContext) -> bool {
    SAMPLING.get().is_none_or(|sampling| sampling.takes(parent))
}

/// Whether what is done now belongs to a trace that goes on in another task.
pub(super) fn is_within_trace() -> bool {
    Context::map_current(|context| context.has_active_span() && context.span().span_context().is_sampled())
}

impl Sampling {
    /// By the two variables, whose specification wants what is unknown or malformed to be warned of and passed over.
    fn parse(sampler: &str, argument: &str) -> Self {
        let (by_parent, root) = match sampler.strip_prefix("parentbased_") {
            Some(root) => (true, root),
            None => (sampler.is_empty(), if sampler.is_empty() { "always_on" } else { sampler }),
        };
        let sampler = match root {
            "always_on" => Sampler::AlwaysOn,
            "always_off" => Sampler::AlwaysOff,
            "traceidratio" => Sampler::TraceIdRatioBased(ratio(argument)),
            _ => {
                tracing::warn!(sampler, "OTEL_TRACES_SAMPLER is not known; parentbased_always_on is taken");
                return Self::parse("", "");
            }
        };
        Self { by_parent, sampler }
    }

    /// Without a parent the part is that of chance: the trace has no number yet, and another service that decides by
    /// the number decides by itself.
    fn takes(&self, parent: &SpanContext) -> bool {
        if parent.is_valid() && self.by_parent {
            return parent.is_sampled();
        }
        let trace = if parent.is_valid() { parent.trace_id() } else { TraceId::from(fastrand::u128(1..)) };
        let result = self.sampler.should_sample(None, trace, "", &SpanKind::Server, &[], &[]);
        result.decision == SamplingDecision::RecordAndSample
    }
}

/// A chance between 0 and 1; all without one.
fn ratio(argument: &str) -> f64 {
    if argument.is_empty() {
        return 1.0;
    }
    argument.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio)).unwrap_or_else(|| {
        tracing::warn!(argument, "OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1; 1 is taken");
        1.0
    })
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{SpanId, TraceFlags, TraceState};

    use super::*;

    fn parent(is_sampled: bool) -> SpanContext {
        let flags = TraceFlags::default().with_sampled(is_sampled);
        // A trace that a ratio of one half does not take.
        let trace = TraceId::from(u128::MAX);
        SpanContext::new(trace, SpanId::from(1), flags, true, TraceState::NONE)
    }

    #[test]
    fn every_sampler_of_the_specification_decides_as_it_says() {
        let none = SpanContext::NONE;
        let cases = [
            ("", "", [true, true, false]),
            ("always_on", "", [true, true, true]),
            ("always_off", "", [false, false, false]),
            ("traceidratio", "0", [false, false, false]),
            ("traceidratio", "1", [true, true, true]),
            ("parentbased_always_on", "", [true, true, false]),
            ("parentbased_always_off", "", [false, true, false]),
            ("parentbased_traceidratio", "0", [false, true, false]),
            ("parentbased_traceidratio", "", [true, true, false]),
            ("unheard_of", "", [true, true, false]),
            ("traceidratio", "many", [true, true, true]),
        ];
        for (sampler, argument, expected) in cases {
            let sampling = Sampling::parse(sampler, argument);
            let found = [&none, &parent(true), &parent(false)].map(|parent| sampling.takes(parent));
            assert_eq!(found, expected, "{sampler} {argument}");
        }
    }

    #[test]
    fn a_ratio_is_kept_and_a_trace_is_taken_everywhere_or_nowhere() {
        let half = Sampling::parse("traceidratio", "0.5");
        assert!(!half.takes(&parent(true)) && !half.takes(&parent(false)), "by the trace alone");
        let taken = (0..10_000).filter(|_| half.takes(&SpanContext::NONE)).count();
        assert!((4_500..5_500).contains(&taken), "{taken}");
    }
}

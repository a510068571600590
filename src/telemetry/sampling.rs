//! Sampling: whether an RPC is traced, decided once before any span is made, as the configuration says.
//!
//! What is not traced costs no span. What a traced RPC does belongs to its trace, so nothing below decides again.

use std::sync::OnceLock;

use opentelemetry::{
    Context,
    trace::{SpanContext, SpanKind, TraceContextExt, TraceId},
};
use opentelemetry_sdk::trace::{Sampler, SamplingDecision, ShouldSample};

/// The sampler of this process. Without one every RPC is traced whose spans have a consumer.
static SAMPLING: OnceLock<Sampling> = OnceLock::new();

/// How sampling is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Whether the sampling decision of a caller that traces is adopted.
    pub by_parent: bool,
    /// The fraction of the other RPCs that is traced, from 0 to 1.
    pub ratio: f64,
}

impl Default for Sampling {
    /// `parentbased_always_on`, as the specification has it.
    fn default() -> Self {
        Self { by_parent: true, ratio: 1.0 }
    }
}

/// Sets the sampler of this process. Only the first one counts.
pub(super) fn install(sampling: Sampling) {
    let _ = SAMPLING.set(sampling);
}

/// Decides whether an RPC is traced. `parent` is the caller's span, which is invalid if there is none.
pub fn is_traced(parent: &SpanContext) -> bool {
    SAMPLING.get().is_none_or(|sampling| sampling.decide(parent))
}

/// Whether the current task continues a trace that began in another one.
pub(super) fn is_within_trace() -> bool {
    Context::map_current(|context| context.has_active_span() && context.span().span_context().is_sampled())
}

impl Sampling {
    fn decide(&self, parent: &SpanContext) -> bool {
        if parent.is_valid() && self.by_parent {
            return parent.is_sampled();
        }
        // Without a parent the trace has no id yet, so that a random one stands for it. A service below that samples by
        // the id decides by itself.
        let trace = if parent.is_valid() { parent.trace_id() } else { TraceId::from(fastrand::u128(1..)) };
        let sampler = Sampler::TraceIdRatioBased(self.ratio);
        let result = sampler.should_sample(None, trace, "", &SpanKind::Server, &[], &[]);
        result.decision == SamplingDecision::RecordAndSample
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{SpanId, TraceFlags, TraceState};

    use super::*;

    fn parent(is_sampled: bool) -> SpanContext {
        let flags = TraceFlags::default().with_sampled(is_sampled);
        // A trace that is not sampled at a ratio of one half.
        let trace = TraceId::from(u128::MAX);
        SpanContext::new(trace, SpanId::from(1), flags, true, TraceState::NONE)
    }

    #[test]
    fn a_parent_decides_where_it_counts_and_the_ratio_elsewhere() {
        let none = SpanContext::NONE;
        let cases = [
            (true, 1.0, [true, true, false]),
            (true, 0.0, [false, true, false]),
            (false, 1.0, [true, true, true]),
            (false, 0.0, [false, false, false]),
        ];
        for (by_parent, ratio, expected) in cases {
            let sampling = Sampling { by_parent, ratio };
            let found = [&none, &parent(true), &parent(false)].map(|parent| sampling.decide(parent));
            assert_eq!(found, expected, "{sampling:?}");
        }
    }

    #[test]
    fn a_ratio_is_kept_and_a_trace_is_sampled_everywhere_or_nowhere() {
        let half = Sampling { by_parent: false, ratio: 0.5 };
        assert!(!half.decide(&parent(true)) && !half.decide(&parent(false)), "by the trace alone");
        let sampled = (0..10_000).filter(|_| half.decide(&SpanContext::NONE)).count();
        assert!((4_500..5_500).contains(&sampled), "{sampled}");
    }
}

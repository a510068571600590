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

/// How it is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Whether the decision of a caller who traces counts.
    pub by_parent: bool,
    /// The part of the others that is traced, from 0 to 1.
    pub ratio: f64,
}

impl Default for Sampling {
    /// `parentbased_always_on`, as the specification has it.
    fn default() -> Self {
        Self { by_parent: true, ratio: 1.0 }
    }
}

/// Decides so from now on. Only the first time in a process counts.
pub(super) fn install(sampling: Sampling) {
    let _ = SAMPLING.set(sampling);
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
    /// Without a parent the part is that of chance: the trace has no number yet, and another service that decides by
    /// the number decides by itself.
    fn takes(&self, parent: &SpanContext) -> bool {
        if parent.is_valid() && self.by_parent {
            return parent.is_sampled();
        }
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
        // A trace that a ratio of one half does not take.
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
            let found = [&none, &parent(true), &parent(false)].map(|parent| sampling.takes(parent));
            assert_eq!(found, expected, "{sampling:?}");
        }
    }

    #[test]
    fn a_ratio_is_kept_and_a_trace_is_taken_everywhere_or_nowhere() {
        let half = Sampling { by_parent: false, ratio: 0.5 };
        assert!(!half.takes(&parent(true)) && !half.takes(&parent(false)), "by the trace alone");
        let taken = (0..10_000).filter(|_| half.takes(&SpanContext::NONE)).count();
        assert!((4_500..5_500).contains(&taken), "{taken}");
    }
}

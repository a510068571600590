//! The token budget of one turn: its limit, and the tokens that its models have taken.

use std::sync::atomic::{AtomicU64, Ordering};

use toolwire_sources::models::Usage;

/// One part in this many of a budget is reserved for the answer.
const KEPT_FOR_ANSWER: u64 = 5;

/// Counts the tokens of one turn.
#[derive(Debug)]
pub(super) struct Meter {
    most: u64,
    input: AtomicU64,
    output: AtomicU64,
}

impl Meter {
    /// A meter with a budget, of which a resumed turn has spent a part.
    pub(super) fn new(most: u32, spent: Usage) -> Self {
        let Usage { input_tokens, output_tokens } = spent;
        Self { most: most.into(), input: input_tokens.into(), output: output_tokens.into() }
    }

    pub(super) const fn most(&self) -> u64 {
        self.most
    }

    pub(super) fn usage(&self) -> Usage {
        let (input, output) = (self.input.load(Ordering::Relaxed), self.output.load(Ordering::Relaxed));
        Usage { input_tokens: input, output_tokens: output }
    }

    pub(super) fn remaining(&self) -> u64 {
        let Usage { input_tokens, output_tokens } = self.usage();
        self.most.saturating_sub(input_tokens).saturating_sub(output_tokens)
    }

    /// What is left for plans: a part is reserved for the answer, or planning could leave nothing to answer with.
    pub(super) fn remaining_for_plans(&self) -> u64 {
        self.remaining().saturating_sub(self.most / KEPT_FOR_ANSWER)
    }

    /// Adds the usage of a request.
    pub(super) fn add(&self, usage: Usage) {
        self.input.fetch_add(usage.input_tokens, Ordering::Relaxed);
        self.output.fetch_add(usage.output_tokens, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_leave_a_fifth_for_the_answer() {
        let meter = Meter::new(1_000, Usage { input_tokens: 100, output_tokens: 50 });
        assert_eq!((meter.remaining(), meter.remaining_for_plans()), (850, 650));
        meter.add(Usage { input_tokens: 700, output_tokens: 0 });
        assert_eq!((meter.remaining(), meter.remaining_for_plans()), (150, 0));
        meter.add(Usage { input_tokens: 700, output_tokens: 0 });
        assert_eq!((meter.remaining(), meter.usage().input_tokens), (0, 1_500));
    }
}

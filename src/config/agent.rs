//! Settings of the agent: what a turn may spend, and how many turns run at once.

use std::time::Duration;

use super::settings::{at_most, settings, within};

/// The longest turn time-out that can be set: no caller waits longer for an answer.
const LONGEST: Duration = Duration::from_hours(1);

settings! {
    /// Conversations: `[agent]`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Agent in "agent" {
        /// The most plans of a turn.
        max_steps: u32 = 8, "TOOLWIRE_AGENT_MAX_STEPS", as within(1..=64);
        /// The most calls of a turn.
        max_calls: u32 = 16, "TOOLWIRE_AGENT_MAX_CALLS", as within(1..=256);
        /// The most tokens of a model that a turn takes, in and out.
        max_tokens: u32 = 60_000, "TOOLWIRE_AGENT_MAX_TOKENS", as within(1..=10_000_000);
        /// Calls of one turn at once.
        concurrency: u32 = 4, "TOOLWIRE_AGENT_CONCURRENCY", as within(1..=16);
        /// Turns at once.
        turns: u32 = 64, "TOOLWIRE_AGENT_TURNS", as within(1..=10_000);
        /// Turns of one user at once.
        turns_per_user: u32 = 4, "TOOLWIRE_AGENT_TURNS_PER_USER", as within(1..=10_000);
        /// The longest turn.
        turn_timeout: Duration = Duration::from_mins(2), "TOOLWIRE_AGENT_TURN_TIMEOUT", as at_most(LONGEST);
    }
}

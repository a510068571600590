//! Settings of the agent: what a turn may spend, and how many turns run at once.

use std::time::Duration;

use super::{reader::Reader, setting::Setting};

/// Longer than anybody waits for an answer.
const LONGEST: Duration = Duration::from_hours(1);

/// Conversations: `[agent]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agent {
    /// The most plans of a turn. `max_steps`, `TOOLWIRE_AGENT_MAX_STEPS`, default 8.
    pub max_steps: u32,
    /// The most calls of a turn. `max_calls`, `TOOLWIRE_AGENT_MAX_CALLS`, default 16.
    pub max_calls: u32,
    /// The most tokens of a model that a turn takes, in and out. `max_tokens`, `TOOLWIRE_AGENT_MAX_TOKENS`, default
    /// 60000.
    pub max_tokens: u32,
    /// The longest turn. `turn_timeout`, `TOOLWIRE_AGENT_TURN_TIMEOUT`, default `2m`.
    pub turn_timeout: Duration,
    /// Calls of one turn at once. `concurrency`, `TOOLWIRE_AGENT_CONCURRENCY`, default 4.
    pub concurrency: u32,
    /// Turns at once. `turns`, `TOOLWIRE_AGENT_TURNS`, default 64.
    pub turns: u32,
    /// Turns of one user at once. `turns_per_user`, `TOOLWIRE_AGENT_TURNS_PER_USER`, default 4.
    pub turns_per_user: u32,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            max_steps: 8,
            max_calls: 16,
            max_tokens: 60_000,
            turn_timeout: Duration::from_mins(2),
            concurrency: 4,
            turns: 64,
            turns_per_user: 4,
        }
    }
}

impl Agent {
    pub(super) fn read(reader: &mut Reader) -> Self {
        let default = Self::default();
        let mut count = |key, variable, default: u32, most: u32| {
            let read = reader.value(Setting::new(key, variable), default);
            if !(1..=most).contains(&read) {
                reader.problem(key, format!("must be from 1 to {most}"));
            }
            read
        };
        let max_steps = count("agent.max_steps", "TOOLWIRE_AGENT_MAX_STEPS", default.max_steps, 64);
        let max_calls = count("agent.max_calls", "TOOLWIRE_AGENT_MAX_CALLS", default.max_calls, 256);
        let max_tokens =
            count("agent.max_tokens", "TOOLWIRE_AGENT_MAX_TOKENS", default.max_tokens, 10_000_000);
        let concurrency = count("agent.concurrency", "TOOLWIRE_AGENT_CONCURRENCY", default.concurrency, 16);
        let turns = count("agent.turns", "TOOLWIRE_AGENT_TURNS", default.turns, 10_000);
        let turns_per_user =
            count("agent.turns_per_user", "TOOLWIRE_AGENT_TURNS_PER_USER", default.turns_per_user, 10_000);
        let turn_timeout = Setting::new("agent.turn_timeout", "TOOLWIRE_AGENT_TURN_TIMEOUT");
        let turn_timeout = reader.value(turn_timeout, default.turn_timeout);
        if turn_timeout.is_zero() || turn_timeout > LONGEST {
            reader.problem("agent.turn_timeout", "must be longer than zero and at most 1h");
        }
        Self { max_steps, max_calls, max_tokens, turn_timeout, concurrency, turns, turns_per_user }
    }
}

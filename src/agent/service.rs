//! What the faces of the agent offer: turns of conversations, runs of tasks, and jobs; and what keeps their rows in order.

pub mod jobs;
pub mod runs;
pub mod turns;
pub mod upkeep;

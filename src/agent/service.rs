//! What the faces of the agent offer: turns of conversations, runs of tasks, and jobs; and the upkeep of their rows.

pub mod jobs;
pub mod runs;
pub mod turns;
pub mod upkeep;

//! What the faces of the agent offer: turns of conversations, runs of tasks, and jobs.

pub mod jobs;
pub mod runs;
pub mod turns;

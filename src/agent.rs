//! The agent: answers a message by calling tools, through the one pipeline and with its user's rights.
//!
//! Of this room so far: [`plan`] decides which tools to call next, [`answer`] writes the answer from their results, and
//! [`ground`] checks that it says nothing else. The agent is a caller like any other; it has no way to a tool but the
//! pipeline.

pub mod plan;

pub mod answer;
pub mod ground;

//! The agent: answers a message by calling tools, through the one pipeline and with its user's rights.
//!
//! Of this room so far: [`plan`], which decides which tools to call next. The agent is a caller like any other; it has
//! no way to a tool but the pipeline.

pub mod plan;

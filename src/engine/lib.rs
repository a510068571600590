//! What carries a call out: the registry of tools, the pipeline of a call, and what tools do to tasks.
//!
//! Internal to Toolwire: no promise is made to other crates. Not here: how a call comes in (`toolwire-server`), and
//! what tools there are.

pub mod exports;
pub mod model;
pub mod pipeline;
pub mod registry;
pub mod tasks;

//! The execution of calls: the registry of tools, the pipeline, and the operations of tools on tasks.
//!
//! Internal to Toolwire: no promise is made to other crates. Not here: how calls arrive (`toolwire-server`), and the
//! tools themselves.

pub mod exports;
pub mod kept_results;
pub mod model;
pub mod pipeline;
pub mod recordings;
pub mod registry;
pub mod tasks;

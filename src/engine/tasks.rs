//! Tasks: the operations of tool types on them, and their rendering for a model.
//!
//! Not here: their store (`toolwire_state::tasks`), and the operations that faces offer (`toolwire_server::service`).

mod begin;
mod orchestrate;
pub mod render;

pub use begin::{Content, InitialDocument};
pub use orchestrate::Orchestrator;

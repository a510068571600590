//! Tasks at work: what a type of tool does to them, and what a model is shown of them (spec 002).
//!
//! Not here: their store (`toolwire_store::tasks`), and how every face offers them (`toolwire_server::service`).

mod begin;
mod orchestrate;
pub mod render;

pub use begin::{Content, Initial};
pub use orchestrate::Orchestrator;

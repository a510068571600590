//! State behind traits: the embedded implementations need nothing installed, others take over by configuration.

pub mod cool_downs;
mod error;
pub mod idempotency;
mod memory;
mod memory_results;
pub mod results;
pub mod screens;
pub mod watchlist;

pub use error::StoreError;
pub use memory::MemoryIdempotency;
pub use memory_results::MemoryResults;

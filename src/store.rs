//! State behind traits: the embedded implementations need nothing installed, others take over by configuration.

pub mod idempotency;
mod memory;

pub use memory::MemoryIdempotency;

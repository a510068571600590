//! State in memory: bounded, and gone with the process.

mod cool_downs;
mod idempotency;
mod results;

pub use cool_downs::MemoryCoolDowns;
pub use idempotency::MemoryIdempotency;
pub use results::MemoryResults;

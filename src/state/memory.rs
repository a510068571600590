//! In-memory implementations: bounded, and lost when the process ends.

mod cool_downs;
mod hold_offs;
mod results;

pub use cool_downs::MemoryCoolDowns;
pub use hold_offs::MemoryHoldOffs;
pub use results::MemoryResults;

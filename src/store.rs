//! State behind traits: in memory, gone with the process, or in one SQLite file, which several processes may share.

pub mod cool_downs;
mod error;
pub mod idempotency;
mod memory;
mod remembered;
pub mod results;
pub mod screens;
mod sqlite;
pub mod watchlist;

pub use error::StoreError;
pub use memory::{MemoryCoolDowns, MemoryIdempotency, MemoryResults};
pub use remembered::RememberedCoolDowns;
pub use sqlite::Sqlite;

//! State behind traits: in memory, gone with the process, or in one SQLite file, which several processes may share.
//!
//! Here are the platform's own stores, and [`sqlite`], the handle on which domains keep theirs. Not here: any domain's
//! tables.

pub mod audit;
pub mod backup;
pub mod blobs;
pub mod calls;
pub mod cancellations;
pub mod confirmations;
pub mod cool_downs;
pub mod documents;
mod error;
pub mod hold_offs;
pub mod idempotency;
pub mod jobs;
mod memory;
pub mod outbox;
mod remembered;
pub mod reservations;
pub mod results;
pub mod secret;
pub mod sessions;
pub mod sqlite;
pub mod tasks;
pub mod workspace;

pub use error::StoreError;
pub use memory::{MemoryCoolDowns, MemoryHoldOffs, MemoryIdempotency, MemoryResults};
pub use remembered::{RememberedCoolDowns, RememberedHoldOffs};
pub use sqlite::Sqlite;

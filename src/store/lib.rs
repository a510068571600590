//! The state of a server, in one SQLite file that several processes may share.
//!
//! [`Store`] is the handle. The modules of each kind of record, such as [`tasks`], hold its types and its pure rules;
//! `engine` holds the decisions that are made within a transaction, `rows` the statements, [`sql`] the types with which
//! the platform and domains write statements, and `sqlite` the database file. Not here: the tables of domains.

pub mod accepted_tools;
pub mod audit;
pub mod backup;
pub mod blobs;
pub mod calls;
pub mod cancellations;
pub mod confirmations;
pub mod cool_downs;
pub mod documents;
mod engine;
pub mod equal_writes;
mod error;
pub mod hold_offs;
pub mod idempotency;
pub mod jobs;
pub mod kept_results;
mod large_reads;
mod memory;
pub mod outbox;
mod remembered;
pub mod reservations;
pub mod results;
mod rows;
pub mod sessions;
pub mod sql;
mod sqlite;
pub mod tasks;
pub mod workspace;

pub use engine::{Lane, Partition, Scoped, Store, scoped};
pub use error::{Error, StoreError};
pub use memory::{MemoryCoolDowns, MemoryHoldOffs, MemoryResults};
pub use remembered::{RememberedCoolDowns, RememberedHoldOffs};
pub use sqlite::{Durability, Migrations, TableTaken, Tx, Wal, time};

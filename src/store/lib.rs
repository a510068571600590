//! The state of a server, which several processes may share: in one SQLite file, or in PostgreSQL.
//!
//! [`Store`] is the handle. The modules of each kind of record, such as [`tasks`], hold its types and its pure rules;
//! `engine` holds the decisions that are made within a transaction, `rows` the statements, [`sql`] the types with which
//! the platform and domains write statements, and `sqlite` and `postgres` the databases. Not here: the tables of
//! domains.

pub mod accepted_tools;
pub mod audit;
mod away;
pub mod backup;
pub mod blobs;
pub mod calls;
pub mod cancellations;
mod clock;
pub mod confirmations;
pub mod cool_downs;
mod database;
pub mod documents;
mod durability;
mod engine;
pub mod equal_writes;
mod error;
mod followers;
pub mod hold_offs;
pub mod idempotency;
pub mod jobs;
pub mod kept_results;
mod lane;
mod large_reads;
mod last_error;
mod location;
mod memory;
mod migrations;
pub mod outbox;
mod postgres;
mod readers;
mod remembered;
pub mod reservations;
pub mod results;
mod rows;
pub mod sessions;
pub mod sql;
mod sqlite;
pub mod tasks;
pub mod time;
mod turns;
mod tx;
pub mod workspace;

pub use durability::Durability;
pub use engine::{Partition, Scoped, Store, scoped};
pub use error::{Error, StoreError};
pub use lane::Lane;
pub use memory::{MemoryCoolDowns, MemoryHoldOffs, MemoryResults};
pub use migrations::{Migrations, TableTaken};
pub use postgres::{Address, AddressError};
pub use remembered::{RememberedCoolDowns, RememberedHoldOffs};
pub use sqlite::Wal;
pub use tx::Tx;

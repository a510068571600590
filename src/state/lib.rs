//! The state of a server, which several processes may share.
//!
//! [`Store`] is the handle. Each kind of record, such as [`tasks`], has a module with its types, its pure rules and, in
//! `rows`, its statements; `transactions` holds the decisions that are made within a transaction, most of which change
//! several kinds. Not here: the database (`toolwire_db`), and the tables of domains.

pub mod accepted_tools;
pub mod audit;
pub mod backup;
pub mod blobs;
pub mod calls;
pub mod cancellations;
pub mod confirmations;
pub mod cool_downs;
mod dialect;
pub mod documents;
pub mod equal_writes;
pub mod hold_offs;
pub mod idempotency;
pub mod jobs;
pub mod kept_results;
mod large_reads;
pub mod outbox;
mod outcome;
pub mod recordings;
pub mod refusals;
pub mod reservations;
pub mod results;
mod secret;
pub mod sessions;
mod tables;
pub mod tasks;
mod topic;
mod transactions;
mod usage;
pub mod workspace;

use std::{ops::Deref, path::Path, time::SystemTime};

pub use cool_downs::{MemoryCoolDowns, RememberedCoolDowns};
pub use hold_offs::{MemoryHoldOffs, RememberedHoldOffs};
pub use results::MemoryResults;

use blobs::Pins;
use idempotency::Quota;
use toolwire_db::{Address, Database, Migrations, StoreError, TableTaken, sql::sql};
use toolwire_tool::context::UserId;

/// The state of a server. It is opened on first use: a program that needs no state touches no file.
#[derive(Debug)]
pub struct Store {
    database: Database,
    /// The maximum bytes of cached results.
    results_bytes: u64,
    /// The maximum bytes of calls with a `request_id`.
    calls_quota: Quota,
    /// Blobs that are written but not yet referenced by a row.
    pins: Pins,
    confirmations_quota: Quota,
    kept_results_quota: Quota,
    confirmation_waiters: transactions::Waiters,
    /// Messages of tasks that wait for the next append.
    messages: transactions::Messages,
    /// Refusals that are not written yet.
    refusals: refusals::Pending,
}

/// The part of a table that holds rows of one kind of source, so that embedded data is never presented as real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partition {
    /// Data of live sources.
    Live,
    /// Made-up data of embedded sources.
    Embedded,
}

impl Partition {
    /// The value of the column `user_id` in a user's rows. Unambiguous, since a user id contains no space.
    pub fn user_key(self, user: &UserId) -> String {
        match self {
            Self::Live => user.to_string(),
            Self::Embedded => format!("embedded {user}"),
        }
    }
}

/// What is asked of the database itself: its connections, its transactions, its clock.
impl Deref for Store {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

impl Store {
    /// The state in a directory. Directory and file are created on first use.
    pub fn at(directory: &Path) -> Self {
        Self::new(Database::at(directory, tables::of_platform()))
    }

    /// The state in a PostgreSQL database, which processes of several machines share.
    pub fn in_postgres(address: Address) -> Self {
        Self::new(Database::in_postgres(address, tables::of_platform()))
    }

    /// No state: every use fails with this reason.
    pub fn unavailable(reason: impl Into<String>) -> Self {
        Self::new(Database::unavailable(reason, tables::of_platform()))
    }

    /// A state in memory, for tests.
    pub fn in_memory() -> Self {
        Self::new(Database::in_memory(tables::of_platform()))
    }

    fn new(database: Database) -> Self {
        Self {
            database,
            results_bytes: results::MAX_BYTES,
            calls_quota: Quota::default(),
            pins: Pins::default(),
            confirmations_quota: confirmations::QUOTA,
            kept_results_quota: kept_results::QUOTA,
            confirmation_waiters: transactions::Waiters::default(),
            messages: transactions::Messages::default(),
            refusals: refusals::Pending::default(),
        }
    }

    /// Adds tables of domains to the platform's. Must precede the first use.
    pub fn with_tables(self, tables: impl IntoIterator<Item = Migrations>) -> Result<Self, TableTaken> {
        Ok(Self { database: self.database.with_tables(tables)?, ..self })
    }

    /// Reads the time of this machine by another clock, so that a test can set it.
    pub fn with_wall_clock(self, wall: fn() -> SystemTime) -> Self {
        Self { database: self.database.with_wall_clock(wall), ..self }
    }

    /// Stops the clock of the state at an instant, so that a test chooses when something happens.
    pub fn at_time(&self, time: SystemTime) -> &Self {
        self.database.at_time(time);
        self
    }

    pub fn with_results_bytes(self, results_bytes: u64) -> Self {
        Self { results_bytes, ..self }
    }

    pub fn with_calls_quota(self, calls_quota: Quota) -> Self {
        Self { calls_quota, ..self }
    }

    pub fn with_confirmations_quota(self, confirmations_quota: Quota) -> Self {
        Self { confirmations_quota, ..self }
    }

    pub fn with_kept_results_quota(self, kept_results_quota: Quota) -> Self {
        Self { kept_results_quota, ..self }
    }

    /// Writes a probe, and clears the [last error](Database::last_error) if that succeeds.
    pub async fn probe(&self) -> Result<(), StoreError> {
        self.database.probe(sql!("{..dialect::PROBE}")).await
    }
}

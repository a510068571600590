//! A database that several processes may share: one SQLite file, or PostgreSQL. Connections, transactions, migrations,
//! and the clock by which what is stored ends or expires.
//!
//! [`Database`] is the handle, [`sql`] the types with which statements are written, `sqlite` and `postgres` the two
//! engines. Not here: any table, and what a row means (`toolwire_state`, and the domains).

mod backend;
mod clock;
mod database;
mod durability;
mod error;
mod followers;
mod lane;
mod last_error;
mod location;
mod migrations;
mod postgres;
mod reachability;
mod readers;
pub mod sql;
mod sqlite;
pub mod time;
mod turns;
mod tx;

pub use database::{Database, Explain, Scoped, scoped};
pub use durability::Durability;
pub use error::{Error, StoreError};
pub use followers::Topic;
pub use lane::Lane;
pub use migrations::{Migrations, TableTaken};
pub use postgres::{Address, AddressError, Autocommit};
pub use readers::UserReader;
pub use sqlite::{Content, Wal, inspect};
pub use tx::Tx;

//! A database in PostgreSQL, which processes of several machines share: connections, lanes, notifications, liveness.
//! Not here: the statements, which are those of SQLite.

mod address;
mod autocommit;
mod clock;
mod connect;
mod connections;
mod error;
mod hints;
mod lanes;
mod migrate;
mod names;
mod presence;
mod url;

pub use self::{address::Address, autocommit::Autocommit, url::AddressError};
pub(crate) use self::{
    clock::Readings,
    connect::{Database, LaneTransaction, connect},
    error::{is_conflict, unusable},
};

//! The state in PostgreSQL, which processes of several machines share: connections, lanes, notifications, liveness,
//! large blobs. Not here: the statements, which are those of SQLite.

mod address;
pub(crate) mod chunks;
mod clock;
mod connect;
mod connections;
mod error;
mod hints;
mod lanes;
mod migrate;
mod names;
mod presence;
pub(crate) mod sessions;
mod url;

pub use self::{address::Address, url::AddressError};
pub(crate) use self::{
    chunks::Chunks,
    clock::Readings,
    connect::{Database, LaneTransaction, connect},
    error::{is_conflict, unusable},
};

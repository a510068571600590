//! The state in PostgreSQL, which processes of several machines share: connections, lanes, notifications, liveness,
//! large blobs. Not here: the statements, which are those of SQLite.

mod address;
pub(crate) mod chunks;
mod connect;
mod error;
mod hints;
mod lanes;
mod migrate;
mod presence;
pub(crate) mod sessions;

pub use self::address::Address;
pub(crate) use self::{
    chunks::Chunks,
    connect::{Database, LaneTransaction, connect},
    error::{is_conflict, unusable},
};

//! The state in one SQLite file, `toolwire.db` in the state directory, which several processes may share: connections,
//! group commit, notifications, migrations. Not here: the tables' content, and backups.

pub(crate) mod connect;
mod content;
pub(crate) mod error;
pub(crate) mod follow;
mod group_commit;
pub(crate) mod last_error;
pub(crate) mod location;
pub(crate) mod migrations;
pub(crate) mod readers;
pub(crate) mod replica;
pub mod time;
pub(crate) mod wal;

pub(crate) use self::{
    content::{Content, inspect},
    migrations::newest,
};
pub use self::{
    group_commit::{Durability, Tx},
    migrations::{Migrations, TableTaken},
    wal::Wal,
};

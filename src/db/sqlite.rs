//! The state in one SQLite file, `toolwire.db` in the state directory, which several processes may share: connections,
//! group commit, notifications, migrations. Not here: the tables' content, and backups.

pub(crate) mod connect;
mod content;
pub(crate) mod error;
pub(crate) mod follow;
pub(crate) mod group_commit;
mod migrate;
pub(crate) mod open_files;
pub(crate) mod replica;
pub(crate) mod wal;

pub use self::content::{Content, inspect};
pub use self::wal::Wal;

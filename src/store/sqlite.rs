//! State in one SQLite file, `toolwire.db` in the state directory, which several processes may share.
//!
//! Opened at first use: a program that needs no state touches no file. One file a trait. Not here: backups, and more
//! than one machine.

mod connect;
mod cool_downs;
mod error;
mod idempotency;
mod kept;
mod results;
mod screens;
mod time;
mod watchlist;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use futures_util::future::BoxFuture;
use sqlx::{SqlitePool, Transaction};
use tokio::sync::OnceCell;

use super::{StoreError, results::MAX_BYTES};
use crate::context::UserId;

/// State in one SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    realm: Realm,
    place: Place,
    /// How many bytes of results are kept.
    results_bytes: u64,
    pools: Arc<OnceCell<Pools>>,
}

/// Whose screens and watch-lists these are: what was invented for trying out is never shown as real.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Realm {
    /// Of live sources.
    Live,
    /// Of embedded ones.
    Embedded,
}

/// Where the state is.
#[derive(Clone, Debug)]
enum Place {
    /// In a file of this directory.
    Directory(PathBuf),
    /// Nowhere but in this process.
    Memory,
    /// It has no place, for the given reason.
    Nowhere(String),
}

/// The connections.
#[derive(Clone, Debug)]
struct Pools {
    /// The only one that writes: those who wait for it have their turn in order, which SQLite's own waiting does not give.
    writer: SqlitePool,
    /// Those that read meanwhile.
    readers: SqlitePool,
}

/// What a commit outlasts. Neither can leave a damaged file or half a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    /// A loss of power: what is acknowledged is on the disk.
    Power,
    /// A killed process, but perhaps not a loss of power: for what may be lost without harm, and costs no wait for the
    /// disk.
    Process,
}

/// A change under way. Dropped, it has not been.
type Change = Transaction<'static, sqlx::Sqlite>;

/// Something did not succeed: in words already, or in the database's.
#[derive(Debug)]
enum Failed {
    Said(StoreError),
    Database(sqlx::Error),
}

impl Sqlite {
    /// The state in the given directory. Both are made when the state is first used.
    pub fn at(directory: &Path) -> Self {
        Self::of(Place::Directory(directory.to_owned()))
    }

    /// No state: whatever needs it fails for the given reason.
    pub fn nowhere(reason: impl Into<String>) -> Self {
        Self::of(Place::Nowhere(reason.into()))
    }

    /// State that is gone with this value, for tests.
    pub fn in_memory() -> Self {
        Self::of(Place::Memory)
    }

    fn of(place: Place) -> Self {
        Self { realm: Realm::Live, place, results_bytes: MAX_BYTES, pools: Arc::default() }
    }

    /// The same state, keeping at most so many bytes of results.
    pub fn keeping(self, results_bytes: u64) -> Self {
        Self { results_bytes, ..self }
    }

    /// The same state, with the screens and watch-lists of embedded sources.
    pub fn embedded(&self) -> Self {
        let (place, pools) = (self.place.clone(), Arc::clone(&self.pools));
        Self { realm: Realm::Embedded, place, results_bytes: self.results_bytes, pools }
    }

    /// Whose rows a user's are: no user id has a space.
    fn owner(&self, user: &UserId) -> String {
        match self.realm {
            Realm::Live => user.to_string(),
            Realm::Embedded => format!("embedded {user}"),
        }
    }

    /// Opens and checks the state now, so that what is wrong with it shows before anything needs it.
    pub async fn open(&self) -> Result<(), StoreError> {
        self.say(async { Ok(connect::check(self.readers().await?).await?) }.await)
    }

    /// Boxed: it is in every future here, and the compiler cannot see through it that they can be sent.
    fn pools(&self) -> BoxFuture<'_, Result<&Pools, StoreError>> {
        Box::pin(self.pools.get_or_try_init(|| connect::connect(&self.place)))
    }

    async fn readers(&self) -> Result<&SqlitePool, StoreError> {
        Ok(&self.pools().await?.readers)
    }

    /// Begins a change; no other process makes one meanwhile.
    async fn change(&self, durability: Durability) -> Result<Change, Failed> {
        let begin = match durability {
            Durability::Power => "PRAGMA synchronous = FULL; BEGIN IMMEDIATE",
            Durability::Process => "PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE",
        };
        Ok(self.pools().await?.writer.begin_with(begin).await?)
    }

    /// The failure in words for operators.
    fn say<T>(&self, done: Result<T, Failed>) -> Result<T, StoreError> {
        done.map_err(|failed| match failed {
            Failed::Said(error) => error,
            Failed::Database(error) => error::unusable(&self.place, &error),
        })
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Said(error)
    }
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

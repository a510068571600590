//! The brokerage: simulated accounts in JSON files, and facts in markdown.
//!
//! Readers get an immutable state. A saved file is seen by the very next reader; a file that is broken or gone keeps
//! its last good content, and [`Health`] says what is wrong. Not here: what the tools make of the data.

mod accounts;
mod data;
mod date;
mod facts;
mod folder;
mod health;
pub mod import;
mod master;
mod node;
mod rows;
mod symbols;
mod values;
mod watched_file;
mod watched_files;
mod words;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

pub use accounts::Account;
pub use data::Data;
pub use date::{Window, leading_date};
pub use facts::{FALLBACK, Fact, Facts, Fit, Snippet};
pub use health::{Health, OpenError};
pub use master::{Dated, Master, SECTIONS};
pub use rows::{AccountSummary, Performance, Position, Quote, Return, Trade, Transfer};
pub use values::{AsOf, Currency, Symbol, Time};
pub use words::{AssetClass, Method, Side, Status, Timeframe, TransferType};

use toolwire_base::files::Tree;
use toolwire_tool::context::UserId;
use watched_files::{MASTER, Snapshot, WatchedFiles};

/// The brokerage's data, kept up to date with its files.
#[derive(Debug)]
pub struct Brokerage {
    tree: Tree,
    snapshot: ArcSwap<Snapshot>,
    /// Held during a reload, so that concurrent readers do not read the same files at once.
    files: Mutex<WatchedFiles>,
}

impl Brokerage {
    /// Opens `brokerage/` in a tree: `user_master.json` (the default user's), `users/<user>.json`, `facts/*.md`.
    pub fn open(tree: Tree, default_user: UserId) -> Result<Self, OpenError> {
        let mut files = WatchedFiles::new(tree.clone(), default_user);
        let snapshot = ArcSwap::from_pointee(files.open()?);
        Ok(Self { tree, snapshot, files: Mutex::new(files) })
    }

    /// The present state. Costs one `stat` a file, and nothing for embedded data.
    pub fn current(&self) -> Arc<Data> {
        self.current_if(|snapshot| snapshot.watched.keys().all(|path| self.is_unchanged(path, snapshot)))
    }

    /// The present state as far as it concerns one user's accounts. Costs two `stat`s, however many users there are.
    pub fn current_for(&self, user: &UserId) -> Arc<Data> {
        let own = watched_files::path_of(user);
        self.current_if(|snapshot| self.is_unchanged(MASTER, snapshot) && self.is_unchanged(&own, snapshot))
    }

    /// Looks through files and directories, as the poller does. Sees users and facts that were added or removed, too.
    pub fn look(&self) -> Health {
        if !matches!(self.tree, Tree::Embedded(_)) {
            self.reload(&mut self.lock());
        }
        self.health()
    }

    /// What was wrong with the data when it was last looked at.
    pub fn health(&self) -> Health {
        self.snapshot.load().health.clone()
    }

    fn current_if(&self, is_current: impl Fn(&Snapshot) -> bool) -> Arc<Data> {
        let snapshot = self.snapshot.load();
        if matches!(self.tree, Tree::Embedded(_)) || is_current(&snapshot) {
            return Arc::clone(&snapshot.data);
        }
        let mut files = self.lock();
        // The previous holder of the lock may have reloaded already.
        if !is_current(&self.snapshot.load()) {
            self.reload(&mut files);
        }
        Arc::clone(&self.snapshot.load().data)
    }

    /// Whether a file has the stamp that it was read with. Of files that were not there, only a refresh knows.
    fn is_unchanged(&self, path: &str, snapshot: &Snapshot) -> bool {
        snapshot.watched.get(path).is_none_or(|seen| *seen == Some(self.tree.stamp(path)))
    }

    fn reload(&self, files: &mut WatchedFiles) {
        let Some(mut snapshot) = files.reload() else { return };
        let former = self.snapshot.load();
        // The former `Arc` for the same content, so that calls which pinned it and later ones share one copy.
        if snapshot.data.is_same_as(&former.data) {
            snapshot.data = Arc::clone(&former.data);
        }
        self.snapshot.store(Arc::new(snapshot));
    }

    fn lock(&self) -> MutexGuard<'_, WatchedFiles> {
        // A panic while reading leaves files as last seen, which is a state like any other.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

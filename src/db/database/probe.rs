//! Whether the state can be used: the last error, until a write succeeds.

use tokio::sync::watch;

use super::Database;
use crate::{Durability, Error, StoreError, backend::Backend, sql::Statement};

impl Database {
    /// The error that makes the state unusable; `None` while it is usable.
    pub fn last_error(&self) -> watch::Receiver<Option<StoreError>> {
        self.last_error.watch()
    }

    /// Writes a probe, and clears the [last error](Self::last_error) if that succeeds.
    pub async fn probe(&self, write: Statement) -> Result<(), StoreError> {
        self.explain(self.write_probe(write).await)?;
        self.last_error.clear();
        Ok(())
    }

    /// Fails if the files of the state are no longer those that are open. It costs three `stat`s.
    pub fn check_files(&self) -> Result<(), StoreError> {
        match self.backend.get() {
            Some(Backend::Sqlite(pools)) => self.explain(pools.writer.check_files().map_err(Error::from)),
            _ => Ok(()),
        }
    }

    async fn write_probe(&self, write: Statement) -> Result<(), Error> {
        let mut tx = self.change(Durability::Process).await?;
        write.run(&mut tx).await?;
        tx.commit().await
    }
}

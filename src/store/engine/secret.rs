//! The secret of a state, from which there is one for each purpose.

use futures_util::future::BoxFuture;

use super::{Error, Store};
use crate::{StoreError, rows::secret as rows, secret::Secret};
use toolwire_base::digest::Digest;

/// No task has such a name.
const PAGES: &str = "pages";

impl Secret for Store {
    fn page_secret(&self) -> BoxFuture<'_, Result<Digest, StoreError>> {
        Box::pin(Self::page_secret(self))
    }
}

impl Store {
    /// The secret that tokens of pages are sealed with: the same each time, and unknown outside of the state.
    pub async fn page_secret(&self) -> Result<Digest, StoreError> {
        self.explain(self.secret_of(PAGES).await)
    }

    /// The secret of a task, by its name, or of another purpose.
    pub(super) async fn secret_of(&self, what: &str) -> Result<Digest, Error> {
        let secret = rows::get(&mut *self.reader().await?).await?;
        Ok(Digest::of_parts([secret.as_slice(), what.as_bytes()]))
    }
}

//! Secrets derived from the secret of a state, one per purpose.

use crate::{Store, secret as rows};
use toolwire_base::digest::Digest;
use toolwire_db::StoreError;

/// Not a valid name of a task, so the purposes do not collide.
const PAGES: &str = "pages";

impl Store {
    /// The key with which page tokens are sealed: stable, and unknown outside of the state.
    pub async fn page_secret(&self) -> Result<Digest, StoreError> {
        self.secret_of(PAGES).await
    }

    /// Derives the secret of a task or of another purpose.
    pub(super) async fn secret_of(&self, what: &str) -> Result<Digest, StoreError> {
        let secret = self.fetch_one(rows::get()).await?;
        Ok(Digest::of_parts([secret.as_slice(), what.as_bytes()]))
    }
}

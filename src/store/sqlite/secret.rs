//! The secret of a state, from which there is one for each purpose.

use futures_util::future::BoxFuture;

use super::{Failed, Sqlite};
use crate::{StoreError, secret::Secret};
use toolwire_base::digest::Digest;

const SECRET: &str = "SELECT secret FROM task_secret";

/// No task has such a name.
const PAGES: &str = "pages";

impl Secret for Sqlite {
    fn page_secret(&self) -> BoxFuture<'_, Result<Digest, StoreError>> {
        Box::pin(async move { self.explain(self.secret_of(PAGES).await) })
    }
}

impl Sqlite {
    /// The secret of a task, by its name, or of another purpose.
    pub(super) async fn secret_of(&self, what: &str) -> Result<Digest, Failed> {
        let secret: Vec<u8> = sqlx::query_scalar(SECRET).fetch_one(self.readers().await?).await?;
        Ok(Digest::of_parts([secret.as_slice(), what.as_bytes()]))
    }
}

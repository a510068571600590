//! Reads of a single statement, on a read-only connection.

use super::Database;
use crate::{
    StoreError,
    sql::{FromRow, Statement},
};
use toolwire_tool::context::UserId;

impl Database {
    pub async fn fetch_one<T: FromRow>(&self, statement: Statement<T>) -> Result<T, StoreError> {
        let mut reader = self.reader().await?;
        self.explain(statement.one(&mut reader).await)
    }

    pub async fn fetch_optional<T: FromRow>(&self, statement: Statement<T>) -> Result<Option<T>, StoreError> {
        let mut reader = self.reader().await?;
        self.explain(statement.optional(&mut reader).await)
    }

    pub async fn fetch_all<T: FromRow>(&self, statement: Statement<T>) -> Result<Vec<T>, StoreError> {
        let mut reader = self.reader().await?;
        self.explain(statement.all(&mut reader).await)
    }

    /// Reads a page. For a user, it waits for a permit of the user.
    pub async fn fetch_for<T: FromRow>(
        &self,
        user: Option<&UserId>,
        page: Statement<T>,
    ) -> Result<Vec<T>, StoreError> {
        let Some(user) = user else { return self.fetch_all(page).await };
        let mut reader = self.explain(self.reader_for(user).await)?;
        self.explain(page.all(&mut reader).await)
    }
}

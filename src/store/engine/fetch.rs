//! Statements that read, each by itself, with one of the connections that only read.

use super::Store;
use crate::{
    StoreError,
    sql::{FromRow, Statement},
};
use toolwire_tool::context::UserId;

impl Store {
    pub(super) async fn fetch_one<T: FromRow>(&self, statement: Statement<T>) -> Result<T, StoreError> {
        let mut reader = self.reader().await?;
        self.explain(statement.one(&mut reader).await)
    }

    pub(super) async fn fetch_optional<T: FromRow>(
        &self,
        statement: Statement<T>,
    ) -> Result<Option<T>, StoreError> {
        let mut reader = self.reader().await?;
        self.explain(statement.optional(&mut reader).await)
    }

    pub(super) async fn fetch_all<T: FromRow>(&self, statement: Statement<T>) -> Result<Vec<T>, StoreError> {
        let mut reader = self.reader().await?;
        self.explain(statement.all(&mut reader).await)
    }

    /// Reads a page: for a user, when it is the user's turn.
    pub(super) async fn fetch_for<T: FromRow>(
        &self,
        user: Option<&UserId>,
        page: Statement<T>,
    ) -> Result<Vec<T>, StoreError> {
        let Some(user) = user else { return self.fetch_all(page).await };
        let mut reader = self.explain(self.reading(user).await)?;
        self.explain(page.all(&mut reader).await)
    }
}

//! What the connections to a PostgreSQL database have in common.

use futures_util::{Stream, TryStreamExt, stream::try_unfold};
use sqlx::{PgConnection, postgres::PgTransactionManager};
use sqlx_core::transaction::TransactionManager;

use super::dialect::Protocol;
use crate::reachability::Reachability;
use toolwire_telemetry::metric;

/// The code of a lock that was waited for in vain.
pub(crate) const LOCK_NOT_AVAILABLE: &str = "55P03";

/// What the connections to a database have in common.
#[derive(Debug)]
pub(crate) struct Link {
    reachability: Reachability,
    /// The settings that each transaction makes for itself behind a pooler, which keeps none of a session.
    settings: Option<String>,
}

impl Link {
    pub(crate) fn new(reachability: Reachability, settings: Option<String>) -> Self {
        Self { reachability, settings }
    }

    pub(crate) fn reachability(&self) -> &Reachability {
        &self.reachability
    }

    /// Executes what is sent to the database until it answers, or does not.
    pub(super) async fn run<T>(
        &self,
        work: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, sqlx::Error> {
        metric::state_asked();
        let done = self.reachability.run(work).await;
        let code = done
            .as_ref()
            .err()
            .and_then(sqlx::Error::as_database_error)
            .and_then(sqlx::error::DatabaseError::code);
        if code.is_some_and(|code| code == LOCK_NOT_AVAILABLE) {
            metric::state_lock_timed_out();
        }
        done
    }

    /// Passes on the rows of a statement until its end, or until the database does not answer.
    pub(super) fn stream<'a, T: 'a>(
        &'a self,
        rows: impl Stream<Item = Result<T, sqlx::Error>> + Unpin + 'a,
    ) -> impl Stream<Item = Result<T, sqlx::Error>> + 'a {
        // One statement is sent, however many rows it returns.
        metric::state_asked();
        let reachability = &self.reachability;
        try_unfold(rows, move |mut rows| async move {
            let next = reachability.run(rows.try_next()).await;
            next.map(|row| row.map(|row| (row, rows)))
        })
    }

    /// How a statement is sent: within a transaction the settings are made.
    pub(super) fn protocol(&self, db: &PgConnection) -> Protocol<'_> {
        match &self.settings {
            None => Protocol::Extended,
            Some(_) if PgTransactionManager::get_transaction_depth(db) > 0 => Protocol::Simple(""),
            Some(settings) => Protocol::Simple(settings),
        }
    }

    /// The text that begins a transaction by a statement and makes its settings, before anything else is executed.
    pub(super) fn begin(&self, statement: String) -> String {
        let Some(settings) = &self.settings else { return statement };
        let (begin, rest) = statement.split_once(';').unwrap_or((&statement, ""));
        format!("{begin}; {settings}{rest}")
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream::{self, StreamExt};

    use super::*;

    #[test]
    fn settings_follow_the_begin_and_precede_the_rest() {
        let link = Link::new(Reachability::new().1, Some("SET LOCAL a = 1;".to_owned()));
        assert_eq!(link.begin("BEGIN".to_owned()), "BEGIN; SET LOCAL a = 1;");
        assert_eq!(link.begin("BEGIN; SELECT 1".to_owned()), "BEGIN; SET LOCAL a = 1; SELECT 1");
    }

    #[tokio::test]
    async fn rows_end_when_the_database_does_not_answer() {
        let (is_unreachable, reachability) = Reachability::new();
        let link = Link::new(reachability, None);
        let mut rows = link.stream(stream::iter([Ok(1)]).chain(stream::pending()).boxed()).boxed();
        assert_eq!(rows.try_next().await.unwrap(), Some(1));
        is_unreachable.send_replace(true);
        rows.try_next().await.unwrap_err();
    }
}

//! Connections of either database, and transactions on them.

use std::{
    fmt, mem,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use sqlx::{
    AssertSqlSafe, PgConnection, Postgres, SqlSafeStr, Sqlite, SqliteConnection, pool::PoolConnection,
    postgres::PgTransactionManager, sqlite::SqliteTransactionManager,
};
// `sqlx` names the trait nowhere, and its own transactions are of one database.
use sqlx_core::transaction::TransactionManager;

use super::link::Link;
use crate::{Error, turns::Turn};

/// A connection of a pool, within a transaction or not. A reader and a [`Tx`](crate::Tx) dereference to it.
#[derive(Debug)]
pub struct Connection {
    pooled: Pooled,
    /// Released after the connection.
    _turn: Option<Turn>,
}

enum Pooled {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>, Arc<Link>),
}

impl fmt::Debug for Pooled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sqlite(_) => "Sqlite",
            Self::Postgres(..) => "Postgres",
        })
    }
}

/// The driver's own connection.
pub(crate) enum Driver<'a> {
    Sqlite(&'a mut SqliteConnection),
    Postgres(&'a mut PgConnection, &'a Link),
}

impl From<PoolConnection<Sqlite>> for Connection {
    fn from(connection: PoolConnection<Sqlite>) -> Self {
        Self { pooled: Pooled::Sqlite(connection), _turn: None }
    }
}

impl Connection {
    /// A connection whose statements end when the database does not answer.
    pub(crate) fn of_postgres(connection: PoolConnection<Postgres>, link: Arc<Link>) -> Self {
        Self { pooled: Pooled::Postgres(connection, link), _turn: None }
    }

    /// The same connection, which takes a turn.
    pub fn in_turn(self, turn: Turn) -> Self {
        Self { _turn: Some(turn), ..self }
    }

    pub(crate) fn driver(&mut self) -> Driver<'_> {
        match &mut self.pooled {
            Pooled::Sqlite(connection) => Driver::Sqlite(connection),
            Pooled::Postgres(connection, link) => Driver::Postgres(connection, link),
        }
    }

    /// The connection of SQLite, for what only SQLite has.
    ///
    /// # Errors
    ///
    /// If it is one of PostgreSQL.
    pub fn sqlite(&mut self) -> Result<&mut SqliteConnection, Error> {
        match self.driver() {
            Driver::Sqlite(connection) => Ok(connection),
            Driver::Postgres(..) => Err(unsupported("PostgreSQL")),
        }
    }

    /// The connection of PostgreSQL, for what only PostgreSQL has.
    ///
    /// # Errors
    ///
    /// If it is one of SQLite.
    pub fn postgres(&mut self) -> Result<&mut PgConnection, Error> {
        match self.driver() {
            Driver::Postgres(connection, _) => Ok(connection),
            Driver::Sqlite(_) => Err(unsupported("SQLite")),
        }
    }

    /// Executes statements without parameters.
    pub async fn execute_raw(&mut self, statements: &'static str) -> Result<(), sqlx::Error> {
        match self.driver() {
            Driver::Sqlite(connection) => sqlx::raw_sql(statements).execute(connection).await.map(drop),
            Driver::Postgres(connection, link) => {
                let execute = sqlx::raw_sql(statements).execute(connection);
                Box::pin(link.run(execute)).await.map(drop)
            }
        }
    }

    async fn begin(&mut self, statement: String) -> Result<(), sqlx::Error> {
        let safe = |statement| Some(AssertSqlSafe::<String>(statement).into_sql_str());
        match &mut self.pooled {
            Pooled::Sqlite(connection) => SqliteTransactionManager::begin(connection, safe(statement)).await,
            Pooled::Postgres(connection, link) => {
                let mut beginning = Beginning { connection, has_begun: false };
                let begin = PgTransactionManager::begin(beginning.connection, safe(link.begin(statement)));
                Box::pin(link.run(begin)).await?;
                beginning.has_begun = true;
                Ok(())
            }
        }
    }

    async fn commit(&mut self) -> Result<(), sqlx::Error> {
        match self.driver() {
            Driver::Sqlite(connection) => SqliteTransactionManager::commit(connection).await,
            Driver::Postgres(connection, link) => {
                Box::pin(link.run(PgTransactionManager::commit(connection))).await
            }
        }
    }

    /// Rolls back with the next statement, since a drop cannot await.
    fn start_rollback(&mut self) {
        match self.driver() {
            Driver::Sqlite(connection) => SqliteTransactionManager::start_rollback(connection),
            Driver::Postgres(connection, _) => PgTransactionManager::start_rollback(connection),
        }
    }
}

/// A transaction that begins. The driver rolls back none that did not, but the server may be in it, with a lock that
/// was waited for: such a connection is closed.
struct Beginning<'a> {
    connection: &'a mut PoolConnection<Postgres>,
    has_begun: bool,
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        if !self.has_begun {
            self.connection.close_on_drop();
        }
    }
}

fn unsupported(of: &str) -> Error {
    sqlx::Error::Configuration(format!("this is a connection of {of}").into()).into()
}

/// A transaction with a connection of its own, which is rolled back if it is dropped.
#[derive(Debug)]
pub(crate) struct Transaction {
    connection: Connection,
    is_open: bool,
}

impl Transaction {
    /// Begins by a statement, which is the text of literals and of numbers only.
    pub(crate) async fn begin(connection: Connection, statement: String) -> Result<Self, sqlx::Error> {
        let mut transaction = Self { connection, is_open: true };
        transaction.connection.begin(statement).await?;
        Ok(transaction)
    }

    pub(crate) async fn commit(mut self) -> Result<(), sqlx::Error> {
        self.connection.commit().await?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if self.is_open {
            self.connection.start_rollback();
        }
    }
}

impl Deref for Transaction {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Transaction {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

/// A read transaction, whose statements see one snapshot. It ends when it is dropped.
#[derive(Debug)]
pub struct View<'a>(&'a mut Connection);

/// Begins a read transaction, so that several statements see one snapshot. Fails within a transaction, which goes on.
pub async fn view(connection: &mut Connection) -> Result<View<'_>, Error> {
    let begin = match connection.driver() {
        Driver::Sqlite(_) => "BEGIN",
        Driver::Postgres(..) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    };
    // First, so that an attempt that is dropped is rolled back.
    let view = View(connection);
    match view.0.begin(begin.to_owned()).await {
        Ok(()) => Ok(view),
        Err(error) => {
            if matches!(error, sqlx::Error::InvalidSavePointStatement) {
                // Nothing was sent: a rollback would be that of the transaction around, and so of all that share its
                // commit.
                mem::forget(view);
            }
            Err(error.into())
        }
    }
}

impl Drop for View<'_> {
    fn drop(&mut self) {
        self.0.start_rollback();
    }
}

impl Deref for View<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

impl DerefMut for View<'_> {
    fn deref_mut(&mut self) -> &mut Connection {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Database, Durability, Migrations, sql::Statement};

    #[tokio::test]
    async fn a_view_within_a_transaction_is_refused_and_rolls_nothing_back() {
        let store = Database::in_memory(Migrations::none());
        let mut tx = store.change(Durability::Process).await.unwrap();
        let create: Statement = Statement::new("CREATE TABLE numbers (number INTEGER)", Vec::new());
        create.run(&mut tx).await.unwrap();
        view(&mut tx).await.unwrap_err();
        let count = || Statement::<i64>::new("SELECT count(*) FROM numbers", Vec::new());
        assert_eq!(count().one(&mut tx).await.unwrap(), 0);
        tx.commit().await.unwrap();
        assert_eq!(count().one(&mut store.reader().await.unwrap()).await.unwrap(), 0);
    }
}

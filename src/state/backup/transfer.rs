//! Moves a state from a directory to a PostgreSQL database that has none: the rows of every table in one transaction,
//! after the bytes of large documents. Each table is read again at its new place and compared.
//!
//! Not here: large data of reads beside the database, which are made again.

use std::borrow::Cow;

use futures_util::TryStreamExt;
use sha2::{Digest as _, Sha256};

use super::BackupError;
use crate::{
    Store,
    blobs::{ReadError, Source},
};
use toolwire_base::digest::Digest;
use toolwire_db::{
    Durability, Lane,
    sql::{AllColumns, Connection, Rows, Statement, Value, sql},
};

/// Tables whose rows are of SQLite alone: a probe, and what is counted in another way.
const LEFT: &[&str] = &[
    "probe",
    "confirmation_sequence",
    "idempotency_total",
    "confirmation_total",
    "audit_total",
    "kept_results_total",
];

/// The column of a table of one row, in either database.
const ONLY: (&str, &str) = ("only", "id");

/// Maximum rows and bytes of one statement, unless a single row exceeds them.
const ROWS_AT_ONCE: usize = 100;
const BYTES_AT_ONCE: usize = 1024 * 1024;

const LARGE_BLOBS: &str = "SELECT digest FROM blobs WHERE bytes IS NULL ORDER BY digest";

/// A table may take long to be read and written.
const UNBOUNDED: &str = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

/// Tables whose rows reference those of others.
const REFERENCING: &str = "SELECT c.relname::TEXT FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid \
                           WHERE k.contype = 'f' AND c.relnamespace = current_schema()::regnamespace";

const IDENTITIES: &str = "SELECT table_name::TEXT, column_name::TEXT FROM information_schema.columns \
                          WHERE table_schema = current_schema() AND is_identity = 'YES' ORDER BY table_name";

/// What was moved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    pub tables: usize,
    pub rows: u64,
    /// Documents whose bytes were in files.
    pub files: usize,
}

/// A table, and its columns in either database.
struct Table {
    name: &'static str,
    from: Vec<String>,
    to: Vec<String>,
}

/// The number of rows, and their digests, added up: the databases order texts and rows differently.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sum {
    rows: u64,
    digests: [u64; 4],
}

/// Moves a state that no other process uses, and leaves the directory as it is.
pub async fn transfer(from: &Store, to: &Store) -> Result<Moved, BackupError> {
    for store in [from, to] {
        store.open().await?;
        if store.peers().await > 0 {
            return Err(BackupError::InUse(store.place()));
        }
    }
    // Until it is dropped, nothing else writes to the file.
    let mut source = from.explain(from.change(Durability::Process).await)?;
    let mut reader = to.reader().await?;
    let tables = list((from, &mut *source), (to, &mut reader)).await?;
    refuse_rows(to, &mut reader, &tables).await?;
    drop(reader);
    let files = copy_files(from, to, &mut source).await?;

    let mut target = to.explain(to.begin((Lane::AllUsers, Durability::Power), true).await)?;
    to.explain(target.execute_raw(UNBOUNDED).await.map_err(Into::into))?;
    refuse_rows(to, &mut target, &tables).await?;
    let mut moved = Moved { tables: tables.len(), rows: 0, files };
    for table in &tables {
        let sum = copy(table, (from, &mut *source), (to, &mut *target)).await?;
        let mut copied = Sum::default();
        let mut rows: Rows<'_, AllColumns> = Statement::all_of(table.name, &table.to).rows(&mut target);
        while let Some(AllColumns(row)) = to.explain(rows.try_next().await)? {
            copied.add(&row);
        }
        if copied != sum {
            return Err(BackupError::Differs(table.name.to_owned()));
        }
        moved.rows += sum.rows;
    }
    advance_sequences((from, &mut *source), (to, &mut *target)).await?;
    to.explain(target.commit().await)?;
    Ok(moved)
}

/// The tables of the platform and of domains, those that reference others last.
async fn list(
    (from, source): (&Store, &mut Connection),
    (to, target): (&Store, &mut Connection),
) -> Result<Vec<Table>, BackupError> {
    let mut tables = Vec::new();
    for name in from.table_names().filter(|name| !LEFT.contains(name)) {
        // Neither views nor columns that are computed.
        let columns: Statement<String> = sql!(
            "SELECT c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
             WHERE m.type = 'table' AND m.name = {name} ORDER BY c.cid"
        );
        let columns = from.explain(columns.all(source).await)?;
        if !columns.is_empty() {
            let of_target =
                |column: &String| if column == ONLY.0 { ONLY.1.to_owned() } else { column.clone() };
            tables.push(Table { name, to: columns.iter().map(of_target).collect(), from: columns });
        }
    }
    let referencing: Statement<String> = sql!("{..REFERENCING}");
    let referencing = to.explain(referencing.all(target).await)?;
    tables.sort_by_key(|table| referencing.iter().any(|it| it == table.name));
    Ok(tables)
}

/// Refuses a target that has rows, other than those of a new one and bytes that an earlier attempt left.
async fn refuse_rows(to: &Store, target: &mut Connection, tables: &[Table]) -> Result<(), BackupError> {
    for table in tables.iter().filter(|table| !table.has_one_row()) {
        let rows = Statement::<i64>::any_of(table.name).append_if(table.name == "blobs", " WHERE uses > 0");
        if to.explain(rows.and(" LIMIT 1").optional(target).await)?.is_some() {
            return Err(BackupError::HasRows { place: to.place(), table: table.name.to_owned() });
        }
    }
    Ok(())
}

/// Copies the bytes of documents that are in files, reads them again, and returns their number.
async fn copy_files(from: &Store, to: &Store, source: &mut Connection) -> Result<usize, BackupError> {
    let large: Statement<Digest> = Statement::new(LARGE_BLOBS, Vec::new());
    let digests = from.explain(large.all(source).await)?;
    for digest in &digests {
        let mut file = open(from, digest).await?;
        let mut sink = to.begin_blob().await?;
        while let Some(bytes) = file.next().await? {
            sink.write(bytes).await?;
        }
        sink.finish().await?;
        let mut copied = open(to, digest).await?;
        while copied.next().await?.is_some() {}
    }
    Ok(digests.len())
}

async fn open(store: &Store, digest: &Digest) -> Result<Source, BackupError> {
    Ok(store.open_blob(digest, 0).await?.ok_or(ReadError::Damaged(*digest))?)
}

/// Copies the rows of a table.
async fn copy(
    table: &Table,
    (from, source): (&Store, &mut Connection),
    (to, target): (&Store, &mut Connection),
) -> Result<Sum, BackupError> {
    let mut sum = Sum::default();
    let mut rows: Rows<'_, AllColumns> = Statement::all_of(table.name, &table.from).rows(source);
    let (mut batch, mut bytes) = (Vec::new(), 0);
    loop {
        let row = from.explain(rows.try_next().await)?;
        if batch.len() >= ROWS_AT_ONCE || bytes >= BYTES_AT_ONCE || (row.is_none() && !batch.is_empty()) {
            bytes = 0;
            let insert = Statement::insert_into(table.name, &table.to, std::mem::take(&mut batch));
            to.explain(insert.and(table.on_conflict()).run(target).await)?;
        }
        let Some(AllColumns(row)) = row else { return Ok(sum) };
        bytes += sum.add(&row);
        batch.push(row);
    }
}

/// Lets numbers that the database gives begin behind those that were given.
async fn advance_sequences(
    (from, source): (&Store, &mut Connection),
    (to, target): (&Store, &mut Connection),
) -> Result<(), BackupError> {
    let given: Statement<(String, u64)> = sql!("SELECT name, seq FROM sqlite_sequence");
    let given = from.explain(given.all(source).await)?;
    let identities: Statement<(String, String)> = sql!("{..IDENTITIES}");
    for (table, column) in to.explain(identities.all(target).await)? {
        let last = Statement::<u64>::max_of(&table, &column).one(target);
        let last = to.explain(last.await)?;
        let last = given.iter().filter(|(name, _)| *name == table).map(|(_, seq)| *seq).fold(last, u64::max);
        if last > 0 {
            let set: Statement<i64> =
                sql!("SELECT setval(pg_get_serial_sequence({table}, {column}), {last})");
            to.explain(set.one(target).await)?;
        }
    }
    let changes: Statement<u64> = sql!("SELECT last FROM confirmation_sequence");
    let last = from.explain(changes.one(source).await)?;
    if last > 0 {
        let set: Statement<i64> = sql!("SELECT setval('confirmation_change', {last})");
        to.explain(set.one(target).await)?;
    }
    Ok(())
}

impl Table {
    fn has_one_row(&self) -> bool {
        self.from.iter().any(|column| column == ONLY.0)
    }

    /// Replaces the one row that a new database has, and completes the rows of bytes that are there already.
    fn on_conflict(&self) -> &'static str {
        match self.name {
            "blobs" => {
                " ON CONFLICT (digest) DO UPDATE SET uses = excluded.uses, touched_at = excluded.touched_at"
            }
            "results_usage" => " ON CONFLICT (id) DO UPDATE SET bytes = excluded.bytes",
            "task_secret" => " ON CONFLICT (id) DO UPDATE SET secret = excluded.secret",
            _ => "",
        }
    }
}

impl Sum {
    /// Adds a row, and returns the number of its bytes.
    fn add(&mut self, row: &[Value]) -> usize {
        let mut hash = Sha256::new();
        let mut bytes = 0;
        for value in row {
            let (kind, value): (u8, Cow<'_, [u8]>) = match value {
                Value::Null => (0, Cow::default()),
                Value::Int(value) => (1, value.to_be_bytes().to_vec().into()),
                Value::Real(value) => (2, value.to_bits().to_be_bytes().to_vec().into()),
                // PostgreSQL has no character 0, and stores another in its place.
                Value::Text(text) if text.contains('\0') => {
                    (3, text.replace('\0', "\u{fffd}").into_bytes().into())
                }
                Value::Text(text) => (3, text.as_bytes().into()),
                Value::Bytes(value) => (4, value.into()),
            };
            hash.update([kind]);
            hash.update((value.len() as u64).to_be_bytes());
            hash.update(&value);
            bytes += value.len();
        }
        self.rows += 1;
        let digest = hash.finalize();
        for (sum, part) in self.digests.iter_mut().zip(digest.chunks_exact(8)) {
            *sum = sum.wrapping_add(u64::from_be_bytes(part.try_into().expect("8 bytes")));
        }
        bytes
    }
}

//! Large blobs, in chunks of a table: one engine keeps everything, and no more than a chunk is in memory.

use std::{sync::Arc, time::SystemTime};

use sqlx::PgPool;
use uuid::Uuid;

use super::{address::Address, connect::Database, error};
use crate::{StoreError, away::Away, time::millis};
use toolwire_base::{clock, digest::Digest};

/// Bytes of a chunk.
pub(crate) const CHUNK: usize = 256 * 1024;

/// Rows of uploads that one statement of the sweep deletes.
const DELETED_AT_ONCE: i64 = 100;

/// The chunks of a database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Chunks {
    pool: PgPool,
    away: Away,
    address: Arc<Address>,
}

/// A blob that is being written. What is not finished is left to the sweep.
#[derive(Debug)]
pub(crate) struct Upload {
    chunks: Chunks,
    id: String,
    count: i64,
}

impl Chunks {
    pub(crate) fn of(database: &Database) -> Self {
        let (pool, away) = (database.pool().clone(), database.away().clone());
        Self { pool, away, address: Arc::clone(database.address()) }
    }

    pub(crate) async fn begin(&self) -> Result<Upload, StoreError> {
        let id = Uuid::new_v4().simple().to_string();
        let insert = sqlx::query("INSERT INTO blob_uploads (upload, begun_at) VALUES ($1, $2)");
        let insert = insert.bind(&id).bind(millis(clock::wall())).execute(&self.pool);
        self.explain(self.away.or(insert).await)?;
        Ok(Upload { chunks: self.clone(), id, count: 0 })
    }

    /// A chunk of a blob; `None` if it is not there.
    pub(crate) async fn read(&self, digest: &Digest, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let read = "SELECT c.bytes FROM blobs b JOIN blob_chunks c ON c.upload = b.upload \
                    WHERE b.digest = $1 AND c.number = $2";
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        let read =
            sqlx::query_scalar(read).bind(digest.as_bytes().to_vec()).bind(number).fetch_optional(&self.pool);
        self.explain(self.away.or(read).await)
    }

    /// Deletes the chunks of uploads that began by an instant and are of no blob, and returns the number of uploads.
    pub(crate) async fn sweep(&self, before: SystemTime) -> Result<u64, StoreError> {
        let delete = "DELETE FROM blob_uploads WHERE upload IN (SELECT u.upload FROM blob_uploads u \
                      WHERE u.begun_at <= $1 AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.upload = u.upload) LIMIT $2)";
        let delete = sqlx::query(delete).bind(millis(before)).bind(DELETED_AT_ONCE).execute(&self.pool);
        self.explain(self.away.or(delete).await).map(|done| done.rows_affected())
    }

    fn explain<T>(&self, result: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        result.map_err(|error| error::unusable(&self.address, &error))
    }
}

impl Upload {
    /// Appends a chunk, which all but the last are full.
    pub(crate) async fn add(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let insert = sqlx::query("INSERT INTO blob_chunks (upload, number, bytes) VALUES ($1, $2, $3)");
        let insert = insert.bind(&self.id).bind(self.count).bind(bytes).execute(&self.chunks.pool);
        self.chunks.explain(self.chunks.away.or(insert).await)?;
        self.count += 1;
        Ok(())
    }

    /// Makes the chunks those of a blob, which is retained for a while without a reference. A blob that is there keeps
    /// its own.
    pub(crate) async fn finish(self, digest: &Digest, size: u64) -> Result<(), StoreError> {
        let insert = "INSERT INTO blobs (digest, size, upload, uses, touched_at) VALUES ($1, $2, $3, 0, $4) \
                      ON CONFLICT (digest) DO UPDATE SET touched_at = excluded.touched_at";
        let insert = sqlx::query(insert)
            .bind(digest.as_bytes().to_vec())
            .bind(i64::try_from(size).unwrap_or(i64::MAX))
            .bind(&self.id)
            .bind(millis(clock::wall()))
            .execute(&self.chunks.pool);
        self.chunks.explain(self.chunks.away.or(insert).await).map(drop)
    }
}

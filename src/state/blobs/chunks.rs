//! Large blobs, in chunks of a table: one engine keeps everything, and no more than a chunk is in memory.

use std::time::SystemTime;

use uuid::Uuid;

use toolwire_base::digest::Digest;
use toolwire_db::{
    Autocommit, StoreError,
    sql::{Statement, sql},
    time::millis,
};

/// Bytes of a chunk.
pub(crate) const CHUNK: usize = 256 * 1024;

/// Rows of uploads that one statement of the sweep deletes.
const DELETED_AT_ONCE: i64 = 100;

/// The chunks of a database. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Chunks(pub(crate) Autocommit);

/// A blob that is being written. What is not finished is left to the sweep.
#[derive(Debug)]
pub(crate) struct Upload {
    chunks: Chunks,
    id: String,
    count: i64,
}

impl Chunks {
    pub(crate) async fn begin(&self) -> Result<Upload, StoreError> {
        let (id, begun_at) = (Uuid::new_v4().simple().to_string(), millis(self.0.now()));
        self.execute(sql!("INSERT INTO blob_uploads (upload, begun_at) VALUES ({&*id}, {begun_at})")).await?;
        Ok(Upload { chunks: self.clone(), id, count: 0 })
    }

    /// A chunk of a blob; `None` if it is not there.
    pub(crate) async fn read(&self, digest: &Digest, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let (digest, number) = (digest.as_bytes().to_vec(), i64::try_from(number).unwrap_or(i64::MAX));
        let read: Statement<Vec<u8>> = sql!(
            "SELECT c.bytes FROM blobs b JOIN blob_chunks c ON c.upload = b.upload
             WHERE b.digest = {digest} AND c.number = {number}"
        );
        // Boxed, here and below, or every future that may read a blob would have the size of the pool's.
        let read = Box::pin(async { read.optional(&mut self.0.connection().await?).await });
        self.0.explain(read.await)
    }

    /// Deletes the chunks of uploads that began by an instant and are of no blob, and returns the number of uploads.
    pub(crate) async fn sweep(&self, before: SystemTime) -> Result<u64, StoreError> {
        let before = millis(before);
        let delete = sql!(
            "DELETE FROM blob_uploads WHERE upload IN (SELECT u.upload FROM blob_uploads u
             WHERE u.begun_at <= {before} AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.upload = u.upload)
             LIMIT {DELETED_AT_ONCE})"
        );
        self.execute(delete).await
    }

    async fn execute(&self, statement: Statement) -> Result<u64, StoreError> {
        let execute = Box::pin(async { statement.execute(&mut self.0.connection().await?).await });
        self.0.explain(execute.await)
    }
}

impl Upload {
    /// Appends a chunk, which all but the last are full.
    pub(crate) async fn add(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let (id, number) = (&*self.id, self.count);
        let insert = sql!("INSERT INTO blob_chunks (upload, number, bytes) VALUES ({id}, {number}, {bytes})");
        self.chunks.execute(insert).await?;
        self.count += 1;
        Ok(())
    }

    /// Makes the chunks those of a blob, which is retained for a while without a reference. A blob that is there keeps
    /// its own.
    pub(crate) async fn finish(self, digest: &Digest, size: u64) -> Result<(), StoreError> {
        let (digest, size) = (digest.as_bytes().to_vec(), i64::try_from(size).unwrap_or(i64::MAX));
        let (id, now) = (&*self.id, millis(self.chunks.0.now()));
        let insert = sql!(
            "INSERT INTO blobs (digest, size, upload, uses, touched_at) VALUES ({digest}, {size}, {id}, 0, {now})
             ON CONFLICT (digest) DO UPDATE SET touched_at = excluded.touched_at"
        );
        self.chunks.execute(insert).await.map(drop)
    }
}

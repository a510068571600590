//! The table `blobs`. `uses` counts the versions that reference a row: whatever inserts or deletes a version must
//! update it.

use std::time::SystemTime;

use bytes::Bytes;

use toolwire_base::digest::Digest;
use toolwire_db::sql::{Statement, record, select, sql};

#[derive(Debug)]
pub(crate) struct Blob {
    pub(crate) size: u64,
    /// `None` if the bytes are in a file.
    pub(crate) bytes: Option<Vec<u8>>,
}

record!(Blob, "blob", { size, bytes });

pub(crate) fn find(digest: &Digest) -> Statement<Blob> {
    select!(Blob, "FROM blobs WHERE digest = {digest}")
}

/// Whether the bytes of a blob are in a file.
pub(crate) fn is_in_file(digest: &Digest) -> Statement<bool> {
    sql!("SELECT bytes IS NULL FROM blobs WHERE digest = {digest}")
}

/// Counts the use by a version that is about to be inserted, and inserts the row if there is none.
pub(crate) fn add_use(digest: &Digest, size: u64, bytes: Option<&Bytes>, now: SystemTime) -> Statement {
    let bytes = bytes.map(|it| &**it);
    sql!(
        "INSERT INTO blobs (digest, size, bytes, uses, touched_at) VALUES ({digest}, {size}, {bytes}, 1, {now})
         ON CONFLICT (digest) DO UPDATE SET uses = blobs.uses + 1, touched_at = excluded.touched_at"
    )
}

/// Subtracts the uses by versions that were deleted.
pub(crate) fn remove_uses(digest: &Digest, count: u32) -> Statement {
    sql!("UPDATE blobs SET uses = uses - {count} WHERE digest = {digest}")
}

/// Deletes blobs that no version references and that no write has touched since.
pub(crate) fn delete_unused(since: SystemTime, limit: u32) -> Statement {
    sql!(
        "DELETE FROM blobs WHERE uses = 0 AND digest IN
         (SELECT digest FROM blobs WHERE uses = 0 AND touched_at <= {since} LIMIT {limit})"
    )
}

//! The table `blobs`. `uses` counts the versions that name a row: whatever inserts or deletes a version counts here.

use std::time::SystemTime;

use bytes::Bytes;

use crate::{
    Error, sql,
    sql::{Connection, Scalar, record},
};
use toolwire_base::digest::Digest;

#[derive(Debug)]
pub(crate) struct Blob {
    pub(crate) size: u64,
    /// `None` if they are in a file.
    pub(crate) bytes: Option<Vec<u8>>,
}

record!(Blob, "blob", { size, bytes });

pub(crate) async fn find(connection: &mut Connection, digest: &Digest) -> Result<Option<Blob>, Error> {
    sql!("SELECT size, bytes FROM blobs WHERE digest = ", digest).optional(connection).await
}

/// Whether the bytes of a row are in a file. `None` if there is no row.
pub(crate) async fn is_in_file(connection: &mut Connection, digest: &Digest) -> Result<Option<bool>, Error> {
    let is_null = sql!("SELECT bytes IS NULL FROM blobs WHERE digest = ", digest);
    Ok(is_null.optional(connection).await?.map(|Scalar(is_null)| is_null))
}

/// Counts the use by a version that is about to be inserted, and inserts the row if there is none.
pub(crate) async fn add_use(
    connection: &mut Connection,
    digest: &Digest,
    size: u64,
    bytes: Option<&Bytes>,
    now: SystemTime,
) -> Result<(), Error> {
    let add = sql! {
        "INSERT INTO blobs (digest, size, bytes, uses, touched_at) VALUES (", digest,
        ", ", size,
        ", ", bytes.map(|it| &**it),
        ", 1, ", now,
        ") ON CONFLICT (digest) DO UPDATE SET uses = blobs.uses + 1, touched_at = excluded.touched_at"
    };
    add.execute(connection).await?;
    Ok(())
}

/// Takes away the uses by versions that were deleted.
pub(crate) async fn remove_uses(
    connection: &mut Connection,
    digest: &Digest,
    count: u32,
) -> Result<(), Error> {
    sql!("UPDATE blobs SET uses = uses - ", count, " WHERE digest = ", digest).execute(connection).await?;
    Ok(())
}

/// Deletes rows that no version names and that no write has touched since, and returns their number.
pub(crate) async fn delete_unused(
    connection: &mut Connection,
    since: SystemTime,
    limit: u32,
) -> Result<u64, Error> {
    let delete = sql! {
        "DELETE FROM blobs WHERE digest IN (SELECT digest FROM blobs WHERE uses = 0 AND touched_at <= ", since,
        " LIMIT ", limit,
        ")"
    };
    delete.execute(connection).await
}

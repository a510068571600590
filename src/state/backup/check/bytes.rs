//! Blobs against the digests that are their names: those in their rows, in files beside the database, and in chunks.

use std::path::Path;

use data_encoding::HEXLOWER;
use futures_util::TryStreamExt;

use super::{
    super::{blob_path, digest_of},
    report::Report,
};
use crate::{Store, blobs::ReadError};
use toolwire_base::digest::Digest;
use toolwire_db::{
    Error,
    sql::{Connection, Rows, Statement},
};

const INLINE_BLOBS: &str = "SELECT digest, size, bytes FROM blobs WHERE bytes IS NOT NULL ORDER BY digest";

const LARGE_BLOBS: &str = "SELECT digest, size FROM blobs WHERE bytes IS NULL ORDER BY digest";

const LARGE_DIGESTS: &str = "SELECT digest FROM blobs WHERE bytes IS NULL ORDER BY digest";

/// Blobs in their rows.
pub(super) async fn check_rows(connection: &mut Connection, report: &mut Report) -> Result<(), Error> {
    let inline: Statement<(Vec<u8>, i64, Vec<u8>)> = Statement::new(INLINE_BLOBS, Vec::new());
    let mut rows: Rows<'_, _> = inline.rows(connection);
    while let Some((digest, size, bytes)) = rows.try_next().await? {
        if *Digest::of_bytes(&bytes).as_bytes() != *digest || i64::try_from(bytes.len()) != Ok(size) {
            report.problems.push(differs(&HEXLOWER.encode(&digest)));
        }
    }
    Ok(())
}

/// Blobs in files beside the database.
pub(super) async fn check_files(
    connection: &mut Connection,
    state: &Path,
    report: &mut Report,
) -> Result<(), Error> {
    let in_files: Statement<(Vec<u8>, i64)> = Statement::new(LARGE_BLOBS, Vec::new());
    let rows = in_files.all(connection).await?;
    for (digest, size) in &rows {
        let digest = HEXLOWER.encode(digest);
        let path = blob_path(&digest);
        match digest_of(&state.join(&path)) {
            Ok((bytes, found)) if found == digest && i64::try_from(bytes) == Ok(*size) => {}
            Ok(_) => report.problems.push(format!("{path} does not hold the bytes that its name says")),
            Err(error) => report.problems.push(error.to_string()),
        }
    }
    report.checks.push(format!("the bytes of documents, {} files among them", rows.len()));
    Ok(())
}

/// Blobs in chunks of a table, which are hashed as they are read.
pub(super) async fn check_chunks(
    connection: &mut Connection,
    store: &Store,
    report: &mut Report,
) -> Result<(), Error> {
    let in_chunks: Statement<Digest> = Statement::new(LARGE_DIGESTS, Vec::new());
    let digests = in_chunks.all(connection).await?;
    for digest in &digests {
        let read = async {
            let Some(mut source) = store.open_blob(digest, 0).await? else { return Ok(()) };
            while source.next().await?.is_some() {}
            Ok(())
        };
        match read.await {
            Ok(()) => {}
            Err(ReadError::Damaged(digest)) => report.problems.push(differs(&digest.to_string())),
            Err(ReadError::Store(error)) => return Err(error.into()),
        }
    }
    report.checks.push(format!("the bytes of documents, {} in chunks among them", digests.len()));
    Ok(())
}

fn differs(name: &str) -> String {
    format!("the bytes of {name} are not those that its name says")
}

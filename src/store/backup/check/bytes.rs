//! Blobs against the digests that are their names: those in the database, and those in files beside it.

use std::path::Path;

use data_encoding::HEXLOWER;
use futures_util::TryStreamExt;
use sqlx::SqliteConnection;

use super::{
    super::{blob_path, digest_of},
    report::Report,
};
use toolwire_base::digest::Digest;

const INLINE_BLOBS: &str = "SELECT digest, size, bytes FROM blobs WHERE bytes IS NOT NULL ORDER BY digest";

const FILE_BLOBS: &str = "SELECT digest, size FROM blobs WHERE bytes IS NULL ORDER BY digest";

pub(super) async fn check(
    connection: &mut SqliteConnection,
    state: &Path,
    report: &mut Report,
) -> Result<(), sqlx::Error> {
    let mut rows = sqlx::query_as::<_, (Vec<u8>, i64, Vec<u8>)>(INLINE_BLOBS).fetch(&mut *connection);
    while let Some((digest, size, bytes)) = rows.try_next().await? {
        if *Digest::of_bytes(&bytes).as_bytes() != *digest || i64::try_from(bytes.len()) != Ok(size) {
            let name = HEXLOWER.encode(&digest);
            report.problems.push(format!("the bytes of {name} are not those that its name says"));
        }
    }
    drop(rows);
    let rows: Vec<(Vec<u8>, i64)> = sqlx::query_as(FILE_BLOBS).fetch_all(&mut *connection).await?;
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

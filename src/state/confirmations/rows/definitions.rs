//! The table `definitions`: those that confirmations are bound to, encoded, one row for each digest.
//!
//! A transaction that finds a row renewed within [`RENEWAL`] adds nothing and takes no lock, and ends long before
//! [`RETENTION`] is over. One that renews the row locks it. A sweep therefore never deletes the row of a confirmation
//! that is not committed yet.

use std::time::{Duration, SystemTime};

use super::super::ConfirmationRequest;
use toolwire_base::digest::Digest;
use toolwire_db::{
    Error,
    sql::{Connection, Statement, insert, sql},
};

/// How long a definition is retained after a confirmation of it was last requested, at least.
const RETENTION: Duration = Duration::from_hours(1);

/// How often the instant of the last request is renewed, at most.
const RENEWAL: Duration = Duration::from_mins(30);

pub(crate) fn find(digest: Digest) -> Statement<Vec<u8>> {
    sql!("SELECT encoded FROM definitions WHERE digest = {digest}")
}

/// Stores the definition of a request, unless it is stored. Returns the bytes that were sent to the database.
pub(crate) async fn put(
    db: &mut Connection,
    request: &ConfirmationRequest,
    now: SystemTime,
) -> Result<usize, Error> {
    let ConfirmationRequest { definition, definition_digest: digest, .. } = request;
    let asked_at: Statement<SystemTime> = sql!("SELECT asked_at FROM definitions WHERE digest = {digest}");
    let asked_at = asked_at.optional(db).await?;
    if definition.is_empty() || asked_at.is_some_and(|at| now < at + RENEWAL) {
        return Ok(0);
    }
    let renew = sql!("UPDATE definitions SET asked_at = {now} WHERE digest = {digest}; ");
    // After a renewal too, since another transaction may have deleted the row.
    let insert: Statement = insert! { definitions:
        digest = *digest, encoded = &definition[..], asked_at = now,
    };
    renew.and(insert).and(" ON CONFLICT (digest) DO NOTHING").run(db).await?;
    Ok(definition.len())
}

/// Deletes definitions that no open confirmation is bound to.
pub(crate) fn delete_unbound(now: SystemTime) -> Statement {
    sql!(
        "DELETE FROM definitions WHERE asked_at <= {now - RETENTION} AND digest NOT IN
         (SELECT definition_digest FROM confirmations WHERE state IN ('pending', 'approved'))"
    )
}

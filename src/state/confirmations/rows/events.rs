//! The table `confirmation_events`: every change of a confirmation, with its position among all changes and among those
//! of its user. The counters of both are in `confirmation_sequence` and `confirmation_positions`.

use std::time::SystemTime;

use crate::{
    confirmations::{Change, Scope, SequenceRange, life::State},
    dialect,
};
use toolwire_contract::ConfirmationId;
use toolwire_db::{
    Error,
    sql::{Connection, FromRow, Row, Statement, columns_as, insert, record, sql},
};
use toolwire_tool::context::UserId;

/// The columns of a change: those of its confirmation as of the change, without arguments of more than 16 KiB.
const AT_CHANGE: &[(&str, &str)] = &[
    ("state", "e.state AS state"),
    ("sequence", "e.sequence AS sequence"),
    ("position", "e.position AS position"),
    ("expires_at", "e.expires_at AS expires_at"),
    ("reason", "e.reason AS reason"),
    ("at", "e.at AS at"),
    ("arguments", "CASE WHEN octet_length(c.arguments) <= 16384 THEN c.arguments END AS arguments"),
    ("is_cut", "coalesce(octet_length(c.arguments) > 16384, FALSE) AS is_cut"),
    (
        "bytes",
        "octet_length(c.shown) + CASE WHEN octet_length(c.arguments) <= 16384 THEN octet_length(c.arguments) ELSE 0 END \
         AS bytes",
    ),
];

/// A change in a list.
#[derive(Debug)]
pub(crate) struct ListedChange {
    pub(crate) change: Change,
    /// The bytes of its texts that were read.
    pub(crate) bytes: usize,
}

record!(ListedChange, "change of a confirmation", { change: .., bytes });

struct Stored {
    confirmation: crate::confirmations::Confirmation,
    at: SystemTime,
}

record!(Stored, "change of a confirmation", { confirmation: .., at });

/// A change to be appended.
#[derive(Debug)]
pub(crate) struct NewEvent<'a> {
    pub(crate) confirmation: &'a ConfirmationId,
    pub(crate) user: &'a UserId,
    pub(crate) state: State,
    pub(crate) at: SystemTime,
    pub(crate) expires_at: SystemTime,
    pub(crate) reason: &'a str,
}

impl FromRow for Change {
    fn columns() -> Vec<&'static str> {
        Stored::columns()
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        let Stored { mut confirmation, at } = Stored::from_row(row)?;
        // The remaining columns are current: omits what happened after the change.
        if confirmation.state == State::Pending {
            confirmation.decided = None;
        }
        if confirmation.state.is_open() {
            confirmation.used = None;
        }
        Ok(Self { confirmation, at })
    }
}

/// Appends a change and returns its positions: among all changes, and among those of its user.
pub(crate) async fn append(db: &mut Connection, new: &NewEvent<'_>) -> Result<(u64, u64), Error> {
    let &NewEvent { confirmation, user, state, at, expires_at, reason } = new;
    let next: Statement<u64> = sql!("{..dialect::NEXT_CHANGE}");
    let sequence = next.one(db).await?;
    let next: Statement<u64> = sql!(
        "INSERT INTO confirmation_positions (user_id, last) VALUES ({user}, 1)
         ON CONFLICT (user_id) DO UPDATE SET last = confirmation_positions.last + 1 RETURNING last"
    );
    let position = next.one(db).await?;
    let insert = insert! { confirmation_events:
        sequence, confirmation_id = confirmation, state, at, expires_at, reason, user_id = user, position,
    };
    insert.run(db).await?;
    Ok((sequence, position))
}

/// The change at a position, which is committed, whatever is open below it.
pub(crate) fn find(sequence: u64) -> Statement<Change> {
    let columns = columns_as::<Change>("c.", AT_CHANGE);
    sql!(
        "SELECT {..columns} FROM confirmation_events e JOIN confirmations c ON c.id = e.confirmation_id
         WHERE e.sequence = {sequence}"
    )
}

/// Changes after a position up to another, in order.
pub(crate) fn between(scope: &Scope, (after, last): (u64, u64), limit: u32) -> Statement<ListedChange> {
    let (of, position) = match scope {
        Scope::All => (Statement::default(), "e.sequence"),
        Scope::Own(user) => (sql!("e.user_id = {user} AND "), "e.position"),
    };
    let columns = columns_as::<ListedChange>("c.", AT_CHANGE);
    sql!(
        "SELECT {..columns} FROM confirmation_events e JOIN confirmations c ON c.id = e.confirmation_id
         WHERE {..of}{..position} > {after} AND {..position} <= {last} ORDER BY {..position} LIMIT {limit}"
    )
}

/// The confirmations that changed after a position among all changes up to another.
pub(crate) fn changed_between((after, last): (u64, u64), limit: u32) -> Statement<ConfirmationId> {
    sql!(
        "SELECT confirmation_id FROM confirmation_events
         WHERE sequence > {after} AND sequence <= {last} ORDER BY sequence LIMIT {limit}"
    )
}

/// The position up to which the next statements see every change, or `after` if there is none after it.
pub(crate) async fn last(db: &mut Connection, scope: &Scope, after: u64) -> Result<u64, Error> {
    let last: Statement<u64> = match scope {
        Scope::All => sql!("{..dialect::LAST_CHANGE}"),
        Scope::Own(user) => sql!("SELECT last FROM confirmation_positions WHERE user_id = {user}"),
    };
    // A user without a confirmation has no counter yet.
    let last = last.optional(db).await?.unwrap_or(0).max(after);
    if last == after || matches!(scope, Scope::Own(_)) {
        return Ok(last);
    }
    // Apart from what was read before: what has a position up to that had it before this begins.
    let settled: Statement<u64> = sql!("SELECT {..dialect::SETTLED}({last})");
    Ok(settled.one(db).await?.max(after))
}

/// The positions of the events that are not deleted yet.
pub(crate) async fn range(db: &mut Connection, scope: &Scope) -> Result<SequenceRange, Error> {
    let last = last(db, scope, 0).await?;
    let first: Statement<u64> = match scope {
        Scope::All => sql!(
            "SELECT e.sequence FROM confirmation_events e JOIN confirmations c ON c.id = e.confirmation_id
             WHERE e.sequence <= {last} ORDER BY e.sequence LIMIT 1"
        ),
        Scope::Own(user) => sql!(
            "SELECT position FROM confirmation_events WHERE user_id = {user} AND position <= {last}
             ORDER BY position LIMIT 1"
        ),
    };
    Ok(SequenceRange { first: first.optional(db).await?.unwrap_or(last + 1), last })
}

/// Deletes the earliest changes up to an instant.
pub(crate) fn delete_until(until: SystemTime, limit: u32) -> Statement {
    sql!(
        "DELETE FROM confirmation_events WHERE sequence IN
         (SELECT sequence FROM confirmation_events WHERE at <= {until}{..dialect::IS_NOT_LAST}
          ORDER BY sequence LIMIT {limit})"
    )
}

//! Lists of confirmations, which are read row by row until the page is full.

use crate::confirmations::{Confirmation, Criteria, Scope};
use toolwire_db::sql::{Statement, columns_as, record, sql};

/// The columns of a list: without arguments of more than 16 KiB.
const CUT: &[(&str, &str)] = &[
    ("arguments", "CASE WHEN octet_length(arguments) <= 16384 THEN arguments END AS arguments"),
    ("is_cut", "coalesce(octet_length(arguments) > 16384, FALSE) AS is_cut"),
    (
        "bytes",
        "octet_length(shown) + CASE WHEN octet_length(arguments) <= 16384 THEN octet_length(arguments) ELSE 0 END \
         AS bytes",
    ),
];

/// A confirmation in a list.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) confirmation: Confirmation,
    /// The bytes of its texts that were read.
    pub(crate) bytes: usize,
}

record!(Listed, "confirmation", { confirmation: .., bytes });

/// Pending confirmations after a position, in order.
pub(crate) fn pending_after(
    (scope, criteria): (&Scope, &Criteria),
    after: Option<u64>,
    limit: usize,
) -> Statement<Listed> {
    let position = position(scope);
    let after = after.map(|after| sql!(" AND {..position} > {after}")).unwrap_or_default();
    select(criteria).and(sql!(" AND state = 'pending'{..after} ORDER BY {..position} LIMIT {limit}"))
}

/// Confirmations before a position that are not pending, the last changed first.
pub(crate) fn others_before(
    (scope, criteria): (&Scope, &Criteria),
    before: Option<u64>,
    limit: usize,
) -> Statement<Listed> {
    let position = position(scope);
    let before = before.map(|before| sql!(" AND {..position} < {before}")).unwrap_or_default();
    select(criteria).and(sql!(" AND state <> 'pending'{..before} ORDER BY {..position} DESC LIMIT {limit}"))
}

/// Open confirmations after one position and up to another, in order.
pub(crate) fn open_between(
    (scope, criteria): (&Scope, &Criteria),
    (after, up_to): (u64, u64),
    limit: usize,
) -> Statement<Listed> {
    let position = position(scope);
    select(criteria).and(sql!(
        " AND state IN ('pending', 'approved') AND {..position} > {after} AND {..position} <= {up_to}
         ORDER BY {..position} LIMIT {limit}"
    ))
}

const fn position(scope: &Scope) -> &'static str {
    match scope {
        Scope::All => "sequence",
        Scope::Own(_) => "position",
    }
}

fn select(criteria: &Criteria) -> Statement<Listed> {
    let columns = columns_as::<Listed>("", CUT);
    sql!("SELECT {..columns} FROM confirmations WHERE 1 = 1")
        .when(" AND user_id = ", criteria.user.as_ref())
        .when(" AND task_id = ", criteria.task_id.as_ref())
        .when_any(" AND state IN (", criteria.states.iter().copied())
        .when_any(" AND tool IN (", &criteria.tools)
}

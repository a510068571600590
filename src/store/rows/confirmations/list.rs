//! Lists of confirmations, read row by row, so that a page ends where it is full.

use crate::{
    confirmations::{Confirmation, Criteria, Scope},
    sql::{Connection, Rows, Statement, record},
};

/// The columns of a row of a list: arguments of more than 16 KiB stay where they are.
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
    /// The bytes of its texts, as far as they are read.
    pub(crate) bytes: usize,
}

record!(Listed, "confirmation", { confirmation: .., bytes });

/// Pending confirmations after a position, in order.
pub(crate) fn pending_after<'a>(
    connection: &'a mut Connection,
    (scope, criteria): (&Scope, &Criteria),
    after: Option<u64>,
    limit: usize,
) -> Rows<'a, Listed> {
    let (position, mut list) = (position(scope), select(criteria));
    list.push(" AND state = 'pending'");
    if let Some(after) = after {
        list.push(" AND ").push(position).push(" > ").bind(after);
    }
    list.push(" ORDER BY ").push(position).push(" LIMIT ").bind(limit);
    list.rows(connection)
}

/// Confirmations that are not pending before a position, the last changed first.
pub(crate) fn others_before<'a>(
    connection: &'a mut Connection,
    (scope, criteria): (&Scope, &Criteria),
    before: Option<u64>,
    limit: usize,
) -> Rows<'a, Listed> {
    let (position, mut list) = (position(scope), select(criteria));
    list.push(" AND state <> 'pending'");
    if let Some(before) = before {
        list.push(" AND ").push(position).push(" < ").bind(before);
    }
    list.push(" ORDER BY ").push(position).push(" DESC LIMIT ").bind(limit);
    list.rows(connection)
}

/// Open confirmations after one position and up to another, in order.
pub(crate) fn open_between<'a>(
    connection: &'a mut Connection,
    (scope, criteria): (&Scope, &Criteria),
    (after, up_to): (u64, u64),
    limit: usize,
) -> Rows<'a, Listed> {
    let (position, mut list) = (position(scope), select(criteria));
    list.push(" AND state IN ('pending', 'approved') AND ").push(position).push(" > ").bind(after);
    list.push(" AND ").push(position).push(" <= ").bind(up_to);
    list.push(" ORDER BY ").push(position).push(" LIMIT ").bind(limit);
    list.rows(connection)
}

const fn position(scope: &Scope) -> &'static str {
    match scope {
        Scope::All => "sequence",
        Scope::Own(_) => "position",
    }
}

fn select(criteria: &Criteria) -> Statement {
    let mut list = Statement::default();
    list.push_select::<Listed>("", CUT).push(" FROM confirmations WHERE 1 = 1");
    if let Some(user) = &criteria.user {
        list.push(" AND user_id = ").bind(user);
    }
    if let Some(task) = &criteria.task_id {
        list.push(" AND task_id = ").bind(task);
    }
    if !criteria.states.is_empty() {
        list.push(" AND state IN ").bind_list(criteria.states.iter().copied());
    }
    if !criteria.tools.is_empty() {
        list.push(" AND tool IN ").bind_list(&criteria.tools);
    }
    list
}

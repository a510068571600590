//! Recorded calls, for those who look at them.

use std::time::SystemTime;

use crate::{
    Error,
    calls::{Criteria, Named, RecordedCall, Standing},
    idempotency::Key,
    rows::calls::State,
    sql,
    sql::{AsText, Connection, FromRow, Row, Scalar, Statement, name_unreadable, record},
};
use toolwire_contract::ConfirmationId;
use toolwire_tool::context::CallId;

record!(Key, "call", { user: "user_id", tool, request_id via AsText });

/// A call, and the process that began it. Whether that process is gone is not known yet.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) call: RecordedCall,
    pub(crate) replica: Option<String>,
}

impl FromRow for Listed {
    fn columns() -> Vec<&'static str> {
        let mut columns = Key::columns();
        columns.extend(["call_id", "parent_call_id", "definition_digest", "face", "task_id", "session_id"]);
        columns.extend(["trace_id", "begun_at", "ended_at", "deadline", "confirmation_id", "state"]);
        columns.extend(["kept IS NOT NULL AS has_ended", "code", "replica"]);
        columns
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        read(row).map_err(|error| name_unreadable(error, "call"))
    }
}

fn read(row: &Row) -> Result<Listed, Error> {
    // Null of what an early program recorded.
    let text = |column| row.get::<Option<String>>(column).map(Option::unwrap_or_default);
    let has_ended = row.get("has_ended")?;
    let standing = match row.get("state")? {
        _ if has_ended => Standing::Ended(text("code")?),
        State::Asked => Standing::Asked,
        State::Started => Standing::Started,
    };
    let call = RecordedCall {
        key: Key::from_row(row)?,
        call_id: row.get("call_id")?,
        parent_call_id: row.get("parent_call_id")?,
        definition_digest: row.get("definition_digest")?,
        face: text("face")?,
        task_id: text("task_id")?,
        session_id: text("session_id")?,
        trace_id: text("trace_id")?,
        begun_at: row.get("begun_at")?,
        ended_at: if has_ended { row.get("ended_at")? } else { None },
        deadline: row.get("deadline")?,
        confirmation: row.get("confirmation_id")?,
        standing,
        is_left: false,
    };
    Ok(Listed { call, replica: row.get("replica")? })
}

fn select(now: SystemTime) -> Statement {
    let mut select =
        Statement::select::<Listed>("FROM idempotency WHERE call_id IS NOT NULL AND expires_at > ");
    select.bind(now);
    select
}

/// The calls of a name that have not expired, the newest first, at most 16.
pub(crate) async fn list_named(
    connection: &mut Connection,
    named: Named<'_>,
    now: SystemTime,
) -> Result<Vec<Listed>, Error> {
    let mut list = select(now);
    match named {
        Named::Call(call_id) => {
            list.push(" AND call_id = ").bind(call_id);
        }
        Named::Request(user, request_id, tool) => {
            list.push(" AND user_id = ").bind(user).push(" AND request_id = ").bind(AsText(request_id));
            if let Some(tool) = tool {
                list.push(" AND tool = ").bind(tool);
            }
        }
    }
    list.push(" ORDER BY call_id DESC LIMIT 16");
    list.all(connection).await
}

/// The calls before one that have not expired, the newest first.
pub(crate) async fn list(
    connection: &mut Connection,
    criteria: &Criteria,
    before: Option<CallId>,
    limit: u32,
    now: SystemTime,
) -> Result<Vec<Listed>, Error> {
    let mut list = select(now);
    if let Some(user) = &criteria.user {
        list.push(" AND user_id = ").bind(user);
    }
    if let Some(before) = before {
        list.push(" AND call_id < ").bind(before);
    }
    if let Some(since) = criteria.since {
        list.push(" AND begun_at >= ").bind(since);
    }
    if let Some(parent) = criteria.parent_call_id {
        list.push(" AND parent_call_id = ").bind(parent);
    }
    if !criteria.task_id.is_empty() {
        list.push(" AND task_id = ").bind(&criteria.task_id);
    }
    if !criteria.session_id.is_empty() {
        list.push(" AND session_id = ").bind(&criteria.session_id);
    }
    if !criteria.tools.is_empty() {
        list.push(" AND tool IN ").bind_list(&criteria.tools);
    }
    list.push(" ORDER BY call_id DESC LIMIT ").bind(limit);
    list.all(connection).await
}

/// The pending confirmation of a part of a call, the newest if there are several.
pub(crate) async fn pending_part(
    connection: &mut Connection,
    key: &Key,
) -> Result<Option<ConfirmationId>, Error> {
    // The state is no parameter, so that the index of pending confirmations serves.
    let pending = sql! {
        "SELECT id FROM confirmations WHERE state = 'pending' AND user_id = ", &key.user,
        " AND outer_request_id = ", AsText(key.request_id),
        " ORDER BY position DESC LIMIT 1"
    };
    Ok(pending.optional(connection).await?.map(|Scalar(id)| id))
}

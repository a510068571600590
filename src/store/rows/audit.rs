//! The table `audit`: a record of each write and of each decision.

use std::{net::IpAddr, time::SystemTime};

use super::usage::{self, Counted};
use crate::{
    Error,
    audit::{Criteria, Filter, Kind, Record, Verdict},
    sql,
    sql::{Connection, FromValue, Scalar, Statement, Value, record, words},
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{KnownBy, UserId};

words!(Kind, Verdict);

record!(Record, "audit record", {
    sequence, kind, at, ended_at, user: "user_id", known_by, peer, face, caller, tool,
    definition_digest via OrEmpty, arguments_digest, verdict, code, call_id, request_id, trace_id, task_id,
    confirmation_id, approver, on_behalf_of,
});

/// A column of bytes that is empty where there is no value.
struct OrEmpty<T>(T);

/// A record to be added. Texts are empty where there is nothing to say.
#[derive(Debug)]
pub(crate) struct NewRecord<'a> {
    pub(crate) kind: Kind,
    pub(crate) at: SystemTime,
    pub(crate) ended_at: Option<SystemTime>,
    /// In whose records it is.
    pub(crate) user: &'a UserId,
    pub(crate) known_by: KnownBy,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) face: &'a str,
    /// Whose call it is about.
    pub(crate) caller: &'a UserId,
    pub(crate) tool: &'a str,
    pub(crate) definition_digest: Option<Digest>,
    pub(crate) arguments_digest: Digest,
    pub(crate) verdict: Verdict,
    pub(crate) code: &'a str,
    pub(crate) call_id: String,
    pub(crate) request_id: String,
    pub(crate) trace_id: String,
    pub(crate) task_id: &'a str,
    pub(crate) confirmation_id: &'a str,
    pub(crate) approver: &'a str,
    pub(crate) on_behalf_of: &'a str,
}

/// A record that was added.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Added {
    /// Its position among all.
    pub(crate) sequence: i64,
    /// The records of its user, and all records, without it.
    pub(crate) of_user_before: u64,
    pub(crate) of_all_before: u64,
}

impl FromValue for OrEmpty<Option<Digest>> {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Bytes(bytes) if bytes.is_empty() => Some(Self(None)),
            value => Digest::from_value(value).map(|it| Self(Some(it))),
        }
    }
}

/// Adds a record, in one trip with the counts before it.
pub(crate) async fn insert(connection: &mut Connection, new: NewRecord<'_>) -> Result<Added, Error> {
    let (user, caller) = (new.user, new.caller);
    let columns: [(&'static str, Value); 20] = [
        ("kind", new.kind.into()),
        ("at", new.at.into()),
        ("ended_at", new.ended_at.into()),
        ("user_id", user.into()),
        ("known_by", <&str>::from(new.known_by).into()),
        ("peer", new.peer.map(|peer| peer.to_string()).into()),
        ("face", new.face.into()),
        ("caller", caller.into()),
        ("tool", new.tool.into()),
        ("definition_digest", new.definition_digest.map_or_else(|| Value::Bytes(Vec::new()), Into::into)),
        ("arguments_digest", new.arguments_digest.into()),
        ("verdict", new.verdict.into()),
        ("code", new.code.into()),
        ("call_id", new.call_id.into()),
        ("request_id", new.request_id.into()),
        ("trace_id", new.trace_id.into()),
        ("task_id", new.task_id.into()),
        ("confirmation_id", new.confirmation_id.into()),
        ("approver", new.approver.into()),
        ("on_behalf_of", new.on_behalf_of.into()),
    ];
    let mut insert = sql!("INSERT INTO audit (position, callers_position");
    for (name, _) in &columns {
        insert.push(", ").push(name);
    }
    insert.push(") VALUES (");
    push_next_position(&mut insert, user);
    insert.push(", ");
    if caller == user {
        insert.bind(0);
    } else {
        push_next_position(&mut insert, caller);
    }
    for (_, value) in columns {
        insert.push(", ").bind(value);
    }
    insert
        .push(") RETURNING sequence, coalesce((SELECT records FROM audit_usage WHERE user_id = ")
        .bind(user);
    insert.push("), 0), (SELECT records FROM audit_total)");
    let (sequence, of_user_before, of_all_before) = insert.one(connection).await?;
    usage::account(connection, Counted::Audit, user.as_str(), 1, 0).await?;
    Ok(Added { sequence, of_user_before, of_all_before })
}

/// Adds the next position among the records that a user sees, so that it reveals nothing of what others do.
fn push_next_position(statement: &mut Statement, user: &UserId) {
    // Each half by its own index.
    statement.push("1 + coalesce((SELECT max(seen.position) FROM (");
    statement.push("SELECT max(position) AS position FROM audit WHERE user_id = ").bind(user);
    statement
        .push(" UNION ALL SELECT max(callers_position) FROM audit WHERE caller <> user_id AND caller = ");
    statement.bind(user).push(") AS seen), 0)");
}

/// Deletes the oldest records, of one user or of all.
pub(crate) async fn delete_oldest(
    connection: &mut Connection,
    user: Option<&UserId>,
    count: u32,
) -> Result<(), Error> {
    let mut delete = sql!("DELETE FROM audit WHERE sequence IN (SELECT sequence FROM audit");
    match user {
        Some(user) => delete.push(" WHERE user_id = ").bind(user).push(" ORDER BY position LIMIT "),
        None => delete.push(" ORDER BY sequence LIMIT "),
    };
    delete.bind(count).push(") RETURNING user_id");
    account_deleted(connection, delete).await
}

/// Deletes records up to an instant, of the oldest `limit` records of all. They are in order of time.
pub(crate) async fn delete_until(
    connection: &mut Connection,
    until: SystemTime,
    limit: u32,
) -> Result<(), Error> {
    let delete = sql! {
        "DELETE FROM audit WHERE at <= ", until,
        " AND sequence IN (SELECT sequence FROM audit ORDER BY sequence LIMIT ", limit,
        ") RETURNING user_id"
    };
    account_deleted(connection, delete).await
}

async fn account_deleted(connection: &mut Connection, delete: Statement) -> Result<(), Error> {
    let users: Vec<Scalar<String>> = delete.all(connection).await?;
    let deleted = users.into_iter().map(|Scalar(user)| (user, 0));
    usage::account_deleted(connection, Counted::Audit, deleted).await
}

/// Records before a position, the newest first, each with its position among those that the criteria's user sees.
pub(crate) async fn list(
    connection: &mut Connection,
    criteria: &Criteria,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<Record>, Error> {
    let (before, mut list) = (before.unwrap_or(u64::MAX), Statement::default());
    let Some(user) = &criteria.seen_by else {
        list.push_select::<Record>("", &[]).push(" FROM audit WHERE sequence < ").bind(before);
        push_filter(&mut list, &criteria.filter);
        list.push(" ORDER BY sequence DESC LIMIT ").bind(limit);
        return list.all(connection).await;
    };
    // Each half by its own index.
    list.push("SELECT * FROM (").push_select::<Record>("", &[("sequence", "position AS sequence")]);
    list.push(" FROM audit WHERE position < ").bind(before).push(" AND user_id = ").bind(user);
    push_filter(&mut list, &criteria.filter);
    list.push(" ORDER BY position DESC LIMIT ").bind(limit).push(") AS own UNION ALL SELECT * FROM (");
    list.push_select::<Record>("", &[("sequence", "callers_position AS sequence")]);
    list.push(" FROM audit WHERE callers_position < ").bind(before);
    list.push(" AND caller <> user_id AND caller = ").bind(user);
    push_filter(&mut list, &criteria.filter);
    list.push(" ORDER BY callers_position DESC LIMIT ").bind(limit);
    list.push(") AS of_others ORDER BY sequence DESC LIMIT ").bind(limit);
    list.all(connection).await
}

fn push_filter(list: &mut Statement, filter: &Filter) {
    if let Some(user) = &filter.user {
        list.push(" AND user_id = ").bind(user);
    }
    if let Some(since) = filter.since {
        list.push(" AND at >= ").bind(since);
    }
    if let Some(until) = filter.until {
        list.push(" AND at < ").bind(until);
    }
    if !filter.call_id.is_empty() {
        list.push(" AND call_id = ").bind(&filter.call_id);
    }
    if !filter.confirmation_id.is_empty() {
        list.push(" AND confirmation_id = ").bind(&filter.confirmation_id);
    }
    if !filter.tools.is_empty() {
        list.push(" AND tool IN ").bind_list(&filter.tools);
    }
    if !filter.kinds.is_empty() {
        list.push(" AND kind IN ").bind_list(filter.kinds.iter().copied());
    }
}

//! The table `audit`: a record of each write and of each decision.

use std::{net::IpAddr, time::SystemTime};

use crate::{
    audit::{Criteria, Filter, Kind, Record, Verdict},
    usage::{self, Counted},
};
use toolwire_base::digest::Digest;
use toolwire_db::{
    Error,
    sql::{Connection, FromValue, Statement, Value, columns_as, record, row, select, sql, values, words},
};
use toolwire_tool::context::{KnownBy, UserId};

words!(Kind, Verdict);

record!(Record, "audit record", {
    sequence, kind, at, ended_at, user: "user_id", known_by, peer, workload, face, caller, tool,
    definition_digest via OrEmpty, arguments_digest, verdict, code, call_id, request_id, trace_id, task_id,
    confirmation_id, approver, on_behalf_of,
});

/// A column of bytes that is empty where there is no value.
struct OrEmpty<T>(T);

/// A record to be inserted. A text that does not apply is empty.
#[derive(Debug)]
pub(crate) struct NewRecord<'a> {
    pub(crate) kind: Kind,
    pub(crate) at: SystemTime,
    pub(crate) ended_at: Option<SystemTime>,
    /// The user to whom the record belongs.
    pub(crate) user: &'a UserId,
    pub(crate) known_by: KnownBy,
    pub(crate) peer: Option<IpAddr>,
    pub(crate) workload: &'a str,
    pub(crate) face: &'a str,
    /// The user who made the call that the record is about.
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

impl NewRecord<'_> {
    /// The record as those are that were read, without a position.
    pub(crate) fn to_record(&self) -> Record {
        Record {
            sequence: 0,
            kind: self.kind,
            at: self.at,
            ended_at: self.ended_at,
            user: self.user.to_string(),
            known_by: <&str>::from(self.known_by).to_owned(),
            peer: self.peer.map(|peer| peer.to_string()),
            workload: self.workload.to_owned(),
            face: self.face.to_owned(),
            caller: self.caller.to_string(),
            tool: self.tool.to_owned(),
            definition_digest: self.definition_digest,
            arguments_digest: self.arguments_digest,
            verdict: self.verdict,
            code: self.code.to_owned(),
            call_id: self.call_id.clone(),
            request_id: self.request_id.clone(),
            trace_id: self.trace_id.clone(),
            task_id: self.task_id.to_owned(),
            confirmation_id: self.confirmation_id.to_owned(),
            approver: self.approver.to_owned(),
            on_behalf_of: self.on_behalf_of.to_owned(),
        }
    }
}

/// A record that was inserted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inserted {
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

/// Inserts a record, and returns the counts before it from the same statement.
pub(crate) async fn insert(db: &mut Connection, new: NewRecord<'_>) -> Result<Inserted, Error> {
    let (user, caller) = (new.user, new.caller);
    let (names, all): (Vec<_>, Vec<_>) = row! {
        kind = new.kind, at = new.at, ended_at = new.ended_at, user_id = user, known_by = <&str>::from(new.known_by),
        peer = new.peer.map(|peer| peer.to_string()), workload = new.workload, face = new.face, caller = caller, tool = new.tool,
        definition_digest = new.definition_digest.map_or_else(|| Value::Bytes(Vec::new()), Into::into),
        arguments_digest = new.arguments_digest, verdict = new.verdict, code = new.code, call_id = new.call_id,
        request_id = new.request_id, trace_id = new.trace_id, task_id = new.task_id,
        confirmation_id = new.confirmation_id, approver = new.approver, on_behalf_of = new.on_behalf_of,
    }
    .into_iter()
    .unzip();
    let names = names.into_iter().fold(Statement::default(), |names, name| names.and(", ").and(name));
    let callers = if caller == user { sql!("0") } else { next_position(caller) };
    let insert: Statement<(i64, u64, u64)> = sql!(
        "INSERT INTO audit (position, callers_position{..names})
         VALUES ({..next_position(user)}, {..callers}, {..values(all)})
         RETURNING sequence, coalesce((SELECT records FROM audit_usage WHERE user_id = {user}), 0),
                   (SELECT records FROM audit_total)"
    );
    let (sequence, of_user_before, of_all_before) = insert.one(db).await?;
    usage::account(db, Counted::AUDIT, user.as_str(), 1, 0).await?;
    Ok(Inserted { sequence, of_user_before, of_all_before })
}

/// The next position among the records that a user may see. It reveals nothing about the records of others.
fn next_position(user: &UserId) -> Statement {
    // One subquery per index: with `OR`, neither would serve.
    sql!(
        "1 + coalesce((SELECT max(seen.position) FROM
          (SELECT max(position) AS position FROM audit WHERE user_id = {user} UNION ALL
           SELECT max(callers_position) FROM audit WHERE caller <> user_id AND caller = {user}) AS seen), 0)"
    )
}

/// Deletes the oldest records, of one user or of all.
pub(crate) async fn delete_oldest(
    db: &mut Connection,
    user: Option<&UserId>,
    count: u32,
) -> Result<(), Error> {
    let oldest = match user {
        Some(user) => sql!("WHERE user_id = {user} ORDER BY position LIMIT {count}"),
        None => sql!("ORDER BY sequence LIMIT {count}"),
    };
    delete(db, sql!("sequence IN (SELECT sequence FROM audit {..oldest})")).await
}

/// Deletes those of the oldest `limit` records that are not after an instant. Records are in order of time.
pub(crate) async fn delete_until(db: &mut Connection, until: SystemTime, limit: u32) -> Result<(), Error> {
    let oldest = sql!("SELECT sequence FROM audit ORDER BY sequence LIMIT {limit}");
    delete(db, sql!("at <= {until} AND sequence IN ({..oldest})")).await
}

async fn delete(db: &mut Connection, condition: Statement) -> Result<(), Error> {
    let delete: Statement<String> = sql!("DELETE FROM audit WHERE {..condition} RETURNING user_id");
    let deleted = delete.all(db).await?.into_iter().map(|user| (user, 0));
    usage::account_deleted(db, Counted::AUDIT, deleted).await
}

/// Records before a position, the newest first, each with its position among those that the criteria's user sees.
pub(crate) fn list(criteria: &Criteria, before: Option<u64>, limit: u32) -> Statement<Record> {
    let (before, filter) = (before.unwrap_or(u64::MAX), || filter(&criteria.filter));
    let Some(user) = &criteria.seen_by else {
        let list = select!(Record, "FROM audit WHERE sequence < {before}{..filter()}");
        return list.and(sql!(" ORDER BY sequence DESC LIMIT {limit}"));
    };
    let own = columns_as::<Record>("", &[("sequence", "position AS sequence")]);
    let of_others = columns_as::<Record>("", &[("sequence", "callers_position AS sequence")]);
    // One subquery per index, as in `next_position`.
    sql!(
        "SELECT * FROM (SELECT {..own} FROM audit WHERE position < {before} AND user_id = {user}{..filter()}
                        ORDER BY position DESC LIMIT {limit}) AS own
         UNION ALL SELECT * FROM
          (SELECT {..of_others} FROM audit
           WHERE callers_position < {before} AND caller <> user_id AND caller = {user}{..filter()}
           ORDER BY callers_position DESC LIMIT {limit}) AS of_others
         ORDER BY sequence DESC LIMIT {limit}"
    )
}

fn filter(of: &Filter) -> Statement {
    Statement::default()
        .when(" AND user_id = ", of.user.as_ref())
        .when(" AND at >= ", of.since)
        .when(" AND at < ", of.until)
        .when_nonempty(" AND call_id = ", &of.call_id)
        .when_nonempty(" AND confirmation_id = ", &of.confirmation_id)
        .when_any(" AND tool IN (", &of.tools)
        .when_any(" AND kind IN (", of.kinds.iter().copied())
}

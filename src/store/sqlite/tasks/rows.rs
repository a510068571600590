//! Rows of tasks, read and written.

use std::str::FromStr;

use serde::{Serialize, de::DeserializeOwned};
use sqlx::{Row as _, sqlite::SqliteRow};

use super::fault::{Fault, unreadable};
use crate::{
    sqlite::{
        Change, Failed,
        time::{instant, millis},
    },
    tasks::{Lease, Refused, Task, Waiting, entry::Thing, life::State},
};
use toolwire_tool::context::{TaskId, UserId};

/// What is read of a row, by name.
pub(super) const COLUMNS: &str = "t.number, t.id, t.root, t.parent, t.user_id, t.kind, t.role, t.request, t.documents, t.state, \
     t.reason, t.waiting_step, t.result, t.result_documents, t.message, t.cause, t.depth, t.next, t.bytes, t.tainted, \
     t.lease_holder, t.lease_token, t.lease_until, t.created_at, t.updated_at, t.ended_at, t.deadline, t.labels, t.master, \
     t.master_next, t.position, t.step, \
     (SELECT json_group_array(json_array(w.seq, w.kind, w.thing)) FROM waits w WHERE w.task = t.id) AS waits";

const SAVE: &str = "INSERT INTO tasks (id, root, parent, user_id, kind, role, request, documents, state, reason, waiting_step, \
     result, result_documents, message, cause, depth, next, bytes, tainted, lease_holder, lease_token, lease_until, created_at, \
     updated_at, ended_at, deadline, labels, master, master_next, position, step) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) \
     ON CONFLICT (id) DO UPDATE SET state = excluded.state, reason = excluded.reason, waiting_step = excluded.waiting_step, \
     result = excluded.result, result_documents = excluded.result_documents, message = excluded.message, \
     cause = excluded.cause, next = excluded.next, bytes = excluded.bytes, tainted = excluded.tainted, \
     lease_holder = excluded.lease_holder, lease_token = excluded.lease_token, lease_until = excluded.lease_until, \
     updated_at = excluded.updated_at, ended_at = excluded.ended_at, position = excluded.position, step = excluded.step";

const NEXT: &str = "INSERT INTO task_positions (user_id, last) VALUES (?, ?) \
     ON CONFLICT (user_id) DO UPDATE SET last = last + excluded.last RETURNING last";

const WAIT: &str = "INSERT INTO waits (task, seq, kind, thing) VALUES (?, ?, ?, ?)";

const WAITED: &str = "DELETE FROM waits WHERE task = ? AND seq = ?";

/// A task within a change.
#[derive(Debug)]
pub(in crate::sqlite) struct Row {
    pub(super) task: Task,
    pub(super) bytes: u64,
    /// The bytes of others that share a bound with it, once they were asked for.
    pub(super) beside: Beside,
    /// Those that the store has.
    pub(super) stored_bytes: u64,
    stored: Vec<Waiting>,
}

/// The bytes of timelines that share a bound with one. None of them changes while its row is written, so that they are
/// read once for all entries of a change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Beside {
    /// Of all other tasks of its user.
    pub(super) of_user: Option<u64>,
    /// Of all other tasks of its tree.
    pub(super) of_tree: Option<u64>,
}

impl Row {
    /// Of a task that is not stored yet.
    pub(super) fn new(task: Task) -> Self {
        Self { task, bytes: 0, beside: Beside::default(), stored_bytes: 0, stored: Vec::new() }
    }
}

/// A user's task, to be changed.
pub(super) async fn load(change: &mut Change, user: &UserId, id: &TaskId) -> Result<Row, Fault> {
    let found = find(change, id).await?;
    found.filter(|row| row.task.user == *user).ok_or_else(|| Refused::Unknown.into())
}

/// A task, whose ever it is.
pub(super) async fn find(change: &mut Change, id: &TaskId) -> Result<Option<Row>, Failed> {
    let query = format!("SELECT {COLUMNS} FROM tasks t WHERE t.id = ? AND t.deleted = 0");
    let row = sqlx::query(sqlx::AssertSqlSafe(query)).bind(id.as_str()).fetch_optional(&mut **change).await?;
    row.as_ref().map(of_row).transpose()
}

/// Writes a task at its next position.
pub(super) async fn save(change: &mut Change, row: &mut Row) -> Result<(), Failed> {
    row.task.position = position(change, &row.task.user, 1).await?;
    write(change, row).await
}

/// The last of so many new positions of a user's.
pub(super) async fn position(change: &mut Change, user: &UserId, many: usize) -> Result<u64, Failed> {
    let last = sqlx::query_scalar(NEXT).bind(user.as_str()).bind(column(many as u64));
    Ok(number(last.fetch_one(&mut **change).await?))
}

/// Writes a task where it is.
pub(super) async fn write(change: &mut Change, row: &mut Row) -> Result<(), Failed> {
    let task = &row.task;
    let (holder, token, until) = match &task.lease {
        Some(lease) => (lease.holder.as_str(), lease.token, millis(lease.expires_at)),
        None => ("", 0, 0),
    };
    let (master, master_next) = match &task.master {
        Some((id, next)) => (Some(id.as_str()), *next),
        None => (None, 0),
    };
    sqlx::query(SAVE)
        .bind(task.id.as_str())
        .bind(task.root.as_str())
        .bind(task.parent.as_ref().map(TaskId::as_str))
        .bind(task.user.as_str())
        .bind(task.kind.into_str())
        .bind(task.role.as_str())
        .bind(task.request.as_str())
        .bind(json(&task.documents))
        .bind(task.state.into_str())
        .bind(task.state.reason().map(<&str>::from))
        .bind(column(task.waiting_step))
        .bind(task.result.as_deref())
        .bind(json(&task.result_documents))
        .bind(task.message.as_str())
        .bind(task.cause.map(|cause| json(&cause)))
        .bind(task.depth)
        .bind(column(task.next_sequence))
        .bind(column(row.bytes))
        .bind(task.tainted)
        .bind(holder)
        .bind(column(token))
        .bind(until)
        .bind(millis(task.created_at))
        .bind(millis(task.updated_at))
        .bind(task.ended_at.map(millis))
        .bind(millis(task.deadline))
        .bind(json(&task.labels))
        .bind(master)
        .bind(column(master_next))
        .bind(column(task.position))
        .bind(column(task.newest_step))
        .execute(&mut **change)
        .await?;
    row.stored_bytes = row.bytes;
    write_waits(change, row).await
}

/// Writes what it waits for, as far as that is new.
async fn write_waits(change: &mut Change, row: &mut Row) -> Result<(), Failed> {
    for over in row.stored.iter().filter(|wait| !row.task.waits.contains(wait)) {
        sqlx::query(WAITED)
            .bind(row.task.id.as_str())
            .bind(column(over.sequence))
            .execute(&mut **change)
            .await?;
    }
    for new in row.task.waits.iter().filter(|wait| !row.stored.contains(wait)) {
        let (kind, thing) = words(&new.thing);
        let wait = sqlx::query(WAIT).bind(row.task.id.as_str()).bind(column(new.sequence));
        wait.bind(kind).bind(thing).execute(&mut **change).await?;
    }
    row.stored.clone_from(&row.task.waits);
    Ok(())
}

pub(super) fn of_row(row: &SqliteRow) -> Result<Row, Failed> {
    let text = |column: &str| row.try_get::<String, _>(column);
    let (state, reason): (String, Option<String>) = (text("state")?, row.try_get("reason")?);
    let kind = text("kind")?;
    let token: i64 = row.try_get("lease_token")?;
    let (holder, until) = (text("lease_holder")?, row.try_get("lease_until")?);
    let lease = (token > 0).then(|| Lease { holder, token: number(token), expires_at: instant(until) });
    let master: Option<String> = row.try_get("master")?;
    let master = master.map(|id| parsed::<TaskId>(&id)).transpose()?;
    let parent: Option<String> = row.try_get("parent")?;
    let cause: Option<String> = row.try_get("cause")?;
    let waits = waits(&text("waits")?)?;
    let task = Task {
        id: parsed(&text("id")?)?,
        root: parsed(&text("root")?)?,
        parent: parent.map(|id| parsed(&id)).transpose()?,
        user: parsed(&text("user_id")?)?,
        kind: kind.parse().map_err(|_| unreadable("task", format!("there is no kind {kind:?}")))?,
        role: text("role")?,
        request: text("request")?,
        documents: read(&text("documents")?)?,
        state: state_of(&state, reason.as_deref())?,
        waits: waits.clone(),
        waiting_step: number(row.try_get("waiting_step")?),
        result: row.try_get("result")?,
        result_documents: read(&text("result_documents")?)?,
        message: text("message")?,
        cause: cause.map(|text| read(&text)).transpose()?,
        depth: row.try_get("depth")?,
        next_sequence: number(row.try_get("next")?),
        newest_step: number(row.try_get("step")?),
        lease,
        created_at: instant(row.try_get("created_at")?),
        updated_at: instant(row.try_get("updated_at")?),
        ended_at: row.try_get::<Option<i64>, _>("ended_at")?.map(instant),
        deadline: instant(row.try_get("deadline")?),
        labels: read(&text("labels")?)?,
        position: number(row.try_get("position")?),
        tainted: row.try_get("tainted")?,
        master: master.map(|id| Ok::<_, Failed>((id, number(row.try_get("master_next")?)))).transpose()?,
    };
    let bytes = number(row.try_get("bytes")?);
    Ok(Row { task, bytes, beside: Beside::default(), stored_bytes: bytes, stored: waits })
}

pub(super) fn state_of(word: &str, reason: Option<&str>) -> Result<State, Failed> {
    State::of_words(word, reason).ok_or_else(|| unreadable("task", "there is no such state"))
}

fn waits(text: &str) -> Result<Vec<Waiting>, Failed> {
    let rows: Vec<(u64, String, String)> = read(text)?;
    let waits =
        rows.into_iter().map(|(sequence, kind, name)| Ok(Waiting { sequence, thing: thing(&kind, &name)? }));
    let mut waits = waits.collect::<Result<Vec<_>, Failed>>()?;
    waits.sort_by_key(|wait| wait.sequence);
    Ok(waits)
}

/// The two words of a thing that is waited for.
pub(super) fn words(thing: &Thing) -> (&'static str, String) {
    match thing {
        Thing::Child(id) => ("child", id.to_string()),
        Thing::Question(id) => ("question", id.to_string()),
        Thing::Confirmation(id) => ("confirmation", id.to_string()),
        Thing::Source(source) => ("source", source.clone()),
        Thing::Call(id) => ("call", id.to_string()),
    }
}

fn thing(kind: &str, name: &str) -> Result<Thing, Failed> {
    Ok(match kind {
        "child" => Thing::Child(parsed(name)?),
        "question" => Thing::Question(parsed(name)?),
        "confirmation" => Thing::Confirmation(parsed(name)?),
        "source" => Thing::Source(name.to_owned()),
        "call" => Thing::Call(parsed(name)?),
        other => return Err(unreadable("task", format!("nothing waits for {other:?}"))),
    })
}

pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("texts, numbers and lists are JSON")
}

pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Failed> {
    serde_json::from_str(text).map_err(|error| unreadable("task", error.to_string()))
}

pub(super) fn parsed<T: FromStr<Err: ToString>>(text: &str) -> Result<T, Failed> {
    text.parse().map_err(|error: T::Err| unreadable("task", error.to_string()))
}

/// A number as a column keeps it.
pub(super) fn column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn number(column: i64) -> u64 {
    u64::try_from(column).unwrap_or_default()
}

//! The tables `entries` and `entry_parts`. An entry is stored as its `head`, which is JSON without its two long texts,
//! and these texts: each inline in a column of `entries`, or in `entry_parts` if it exceeds `MAX_INLINE_TEXT`.

pub(crate) mod checked_entry;
mod insert;

pub(crate) use self::insert::{NewEntry, insert, insert_last};

use crate::tasks::{
    CallEntry,
    entry::{Body, Entry, Lengths, Text},
};
use toolwire_db::{
    Error,
    sql::{AsText, Connection, FromRow, Row, Statement, as_json, record, select, sql},
};
use toolwire_tokens::Length;
use toolwire_tool::context::{CallId, RequestId, TaskId};

as_json!(Body);

record!(Entry, "entry", {
    task, sequence: "seq", at, step, position, call_id, trace_id, body: "head", lengths: ..,
});

record!(CallEntry, "entry", { sequence: "seq", call_id, state: .. });

/// A stored entry, with its inline texts.
#[derive(Debug)]
pub(crate) struct StoredEntry {
    pub(crate) entry: Entry,
    /// The bytes of its head and inline texts.
    pub(crate) bytes: usize,
}

impl FromRow for StoredEntry {
    fn columns() -> Vec<&'static str> {
        let mut columns = Entry::columns();
        columns.extend(["input", "result"]);
        columns
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        let mut entry = Entry::from_row(row)?;
        let mut bytes = row.get::<String>("head")?.len();
        let (input, result) = entry.body.texts();
        for (text, column) in [(input, "input"), (result, "result")] {
            let Some(stored) = row.get::<Option<String>>(column)? else { continue };
            bytes += stored.len();
            if let Some(text) = text {
                *text = Text::Inline(stored);
            }
        }
        Ok(Self { entry, bytes })
    }
}

impl FromRow for Lengths {
    fn columns() -> Vec<&'static str> {
        vec!["input_tokens", "result_tokens", "result_first", "result_last"]
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        let result = match row.get("result_tokens")? {
            Some(tokens) => {
                Some(Length { tokens, first: row.get("result_first")?, last: row.get("result_last")? })
            }
            None => None,
        };
        Ok(Self { input: row.get("input_tokens")?, result })
    }
}

/// Entries from a sequence number on, in ascending order or, backwards, in descending order.
pub(crate) fn page(
    task: &TaskId,
    from: Option<u64>,
    is_backwards: bool,
    limit: u32,
) -> Statement<StoredEntry> {
    let from = if is_backwards {
        sql!("seq <= {from.unwrap_or(u64::MAX)} ORDER BY seq DESC")
    } else {
        sql!("seq >= {from.unwrap_or(0)} ORDER BY seq")
    };
    select!(StoredEntry, "FROM entries WHERE task = {task} AND {..from} LIMIT {limit}")
}

/// Loads the external texts of an entry into it.
pub(crate) async fn read_external(db: &mut Connection, entry: &mut Entry) -> Result<(), Error> {
    let texts: Statement<(String, String)> =
        sql!("SELECT part, text FROM entry_parts WHERE task = {&entry.task} AND seq = {entry.sequence}");
    for (part, stored) in texts.all(db).await? {
        let (input, result) = entry.body.texts();
        if let Some(text) = if part == "input" { input } else { result } {
            *text = Text::Inline(stored);
        }
    }
    Ok(())
}

/// The newest entry of a call, and the state of its task.
pub(crate) fn newest_of_call(task: &TaskId, request_id: RequestId) -> Statement<CallEntry> {
    sql!(
        "SELECT e.seq, e.call_id, t.state, t.reason FROM entries e JOIN tasks t ON t.id = e.task
         WHERE e.task = {task} AND e.request_id = {AsText(request_id)} AND e.call_id IS NOT NULL
         ORDER BY e.seq DESC LIMIT 1"
    )
}

/// Sequence number of the newest entry with a `request_id`.
pub(crate) fn newest_of_request(task: &TaskId, request_id: RequestId) -> Statement<u64> {
    let request_id = AsText(request_id);
    sql!(
        "SELECT seq FROM entries WHERE task = {task} AND request_id = {request_id} ORDER BY seq DESC LIMIT 1"
    )
}

/// Sequence number of the newest entry of a call.
pub(crate) fn find_newest(task: &TaskId, request_id: RequestId) -> Statement<u64> {
    sql!(
        "SELECT seq FROM entries WHERE kind = 'tool_call' AND task = {task} AND request_id = {AsText(request_id)}
         ORDER BY seq DESC LIMIT 1"
    )
}

/// Sequence number of the newest entry of a call, with which the call began to wait, unless it was answered.
pub(crate) fn find_unanswered(task: &TaskId, request_id: RequestId) -> Statement<u64> {
    sql!(
        "WITH newest AS (SELECT task, seq FROM entries
          WHERE kind = 'tool_call' AND task = {task} AND request_id = {AsText(request_id)} ORDER BY seq DESC LIMIT 1)
         SELECT seq FROM newest WHERE NOT EXISTS
          (SELECT 1 FROM entries a WHERE a.task = newest.task AND a.answers = newest.seq)"
    )
}

/// The `request_id` and the body of an entry of a call, without its texts.
pub(crate) fn call(task: &TaskId, sequence: u64) -> Statement<(AsText<RequestId>, Body)> {
    sql!("SELECT request_id, head FROM entries WHERE task = {task} AND seq = {sequence}")
}

/// The newest answer to a call: its body without its texts, and its result.
pub(crate) fn newest_answer(task: &TaskId, call_id: CallId) -> Statement<(Body, Option<String>)> {
    sql!(
        "SELECT e.head, coalesce(e.result, p.text) FROM entries e
          LEFT JOIN entry_parts p ON p.task = e.task AND p.seq = e.seq AND p.part = 'result'
         WHERE e.kind = 'answer' AND e.task = {task} AND e.call_id = {call_id} ORDER BY e.seq DESC LIMIT 1"
    )
}

/// Deletes some of the entries of a tree with their texts, and returns whether all are gone.
pub(crate) async fn delete_of_tree(db: &mut Connection, root: &TaskId, limit: u32) -> Result<bool, Error> {
    let texts = sql!(
        "DELETE FROM entry_parts WHERE (task, seq, part) IN
         (SELECT p.task, p.seq, p.part FROM entry_parts p JOIN tasks t ON t.id = p.task WHERE t.root = {root}
          LIMIT {limit})"
    );
    if texts.execute(db).await? >= u64::from(limit) {
        return Ok(false);
    }
    let entries = sql!(
        "DELETE FROM entries WHERE id IN
         (SELECT e.id FROM entries e JOIN tasks t ON t.id = e.task WHERE t.root = {root} LIMIT {limit})"
    );
    Ok(entries.execute(db).await? < u64::from(limit))
}

//! Entries, appended and read. Whoever appends writes the task in the same change.

use std::{mem, time::SystemTime};

use sqlx::{QueryBuilder, Row as _, sqlite::SqliteRow};

use super::{
    fault::unreadable,
    rows::{Row, column, json, number, parsed, read, save},
};
use crate::{
    sqlite::{
        Change, Failed,
        time::{instant, millis},
    },
    tasks::{
        MAX_PART, TaskCall,
        entry::{Body, Entry, Lengths, Part},
        fold,
    },
};
use toolwire_tokens::Length;
use toolwire_tool::context::{CallId, RequestId};

/// What is read of a row, by name.
pub(super) const COLUMNS: &str = "e.task, e.seq, e.at, e.step, e.position, e.call_id, e.trace_id, e.head, e.input, e.result, e.input_tokens, \
     e.result_tokens, e.result_first, e.result_last";

const ADD: &str = "INSERT INTO entries (task, seq, at, kind, step, position, answers, request_id, call_id, trace_id, head, \
                   input, result, input_tokens, result_tokens, result_first, result_last) ";

/// So many entries are one statement.
const ROWS: usize = 32;

const KEEP_APART: &str = "INSERT INTO entry_parts (task, seq, part, text) VALUES (?, ?, ?, ?)";

/// What an entry says beside what happened.
#[derive(Clone, Debug, Default)]
pub(super) struct Of {
    pub(super) step: u64,
    pub(super) position: u32,
    pub(super) request_id: Option<RequestId>,
    pub(super) call_id: Option<CallId>,
    pub(super) trace_id: Option<String>,
    pub(super) lengths: Lengths,
}

impl Of {
    /// Of a call, whose texts are so long.
    pub(super) fn call(call: &TaskCall, lengths: Lengths) -> Self {
        Self {
            step: call.turn.step,
            position: call.turn.position,
            request_id: Some(call.key.request_id),
            call_id: Some(call.call_id()),
            trace_id: call.about.trace_id.map(|it| it.to_string()),
            lengths,
        }
    }
}

/// An entry to be inserted.
#[derive(Debug)]
pub(super) struct New {
    /// Without its long texts.
    entry: Entry,
    request_id: Option<RequestId>,
    head: String,
    input: Placed,
    result: Placed,
}

impl New {
    pub(super) fn sequence(&self) -> u64 {
        self.entry.sequence
    }
}

/// Appends an entry and writes the task. Returns the entry's place.
pub(super) async fn append(
    change: &mut Change,
    row: &mut Row,
    of: Of,
    body: Body,
    now: SystemTime,
) -> Result<u64, Failed> {
    let new = next(row, of, body, now)?;
    let sequence = new.sequence();
    insert(change, vec![new]).await?;
    save(change, row).await?;
    Ok(sequence)
}

/// The next entry of a task, which goes on with it. Both are still to be written.
pub(super) fn next(row: &mut Row, of: Of, body: Body, now: SystemTime) -> Result<New, Failed> {
    let mut entry = Entry {
        task: row.task.id.clone(),
        sequence: row.task.next_sequence,
        // As it will be read.
        at: instant(millis(now)),
        step: of.step,
        position: of.position,
        call_id: of.call_id,
        trace_id: of.trace_id,
        body,
        lengths: of.lengths,
    };
    fold::apply(&mut row.task, &entry).map_err(|error| unreadable("timeline", error.to_string()))?;
    let (input, result) = entry.body.parts();
    let (input, result) = (apart(input), apart(result));
    let head = json(&entry.body);
    row.bytes += input.size + result.size + head.len() as u64;
    Ok(New { entry, request_id: of.request_id, head, input, result })
}

pub(super) async fn insert(change: &mut Change, mut new: Vec<New>) -> Result<(), Failed> {
    for New { head, input, result, .. } in &new {
        let size = head.len() as u64 + input.size + result.size;
        change.adds(usize::try_from(size).unwrap_or(usize::MAX));
    }
    for some in new.chunks_mut(ROWS) {
        let mut query = QueryBuilder::new(ADD);
        query.push_values(&mut *some, |mut row, New { entry, request_id, head, input, result }| {
            let answers = match &entry.body {
                Body::Answer(answer) => Some(column(answer.answers)),
                _ => None,
            };
            row.push_bind(entry.task.as_str())
                .push_bind(column(entry.sequence))
                .push_bind(millis(entry.at))
                .push_bind(entry.body.into_str())
                .push_bind(column(entry.step))
                .push_bind(entry.position)
                .push_bind(answers)
                .push_bind(request_id.map(|it| it.to_string()))
                .push_bind(entry.call_id.map(|it| it.to_string()))
                .push_bind(entry.trace_id.as_deref())
                .push_bind(mem::take(head))
                .push_bind(input.here.take())
                .push_bind(result.here.take())
                .push_bind(entry.lengths.input.map(column))
                .push_bind(entry.lengths.result.map(|it| column(it.tokens)))
                .push_bind(entry.lengths.result.map(|it| column(it.first as u64)))
                .push_bind(entry.lengths.result.map(|it| column(it.last as u64)));
        });
        query.build().execute(&mut **change).await?;
        for New { entry, input, result, .. } in some {
            for (part, text) in [("input", input.apart.take()), ("result", result.apart.take())] {
                if let Some(text) = text {
                    let keep = sqlx::query(KEEP_APART).bind(entry.task.as_str()).bind(column(entry.sequence));
                    keep.bind(part).bind(text).execute(&mut **change).await?;
                }
            }
        }
    }
    Ok(())
}

/// Where the text of a part goes.
#[derive(Debug, Default)]
struct Placed {
    here: Option<String>,
    apart: Option<String>,
    size: u64,
}

/// Takes the text out of a part; what stays says where it is.
fn apart(part: Option<&mut Part>) -> Placed {
    let Some(part) = part else { return Placed::default() };
    let Part::Whole(text) = part else { return Placed::default() };
    let text = mem::take(text);
    let size = text.len() as u64;
    if text.len() <= MAX_PART {
        return Placed { here: Some(text), apart: None, size };
    }
    *part = Part::apart(&text);
    Placed { here: None, apart: Some(text), size }
}

pub(super) fn of_row(row: &SqliteRow) -> Result<Entry, Failed> {
    let mut body: Body = read(&row.try_get::<String, _>("head")?)?;
    let (input, result) = body.parts();
    for (part, column) in [(input, "input"), (result, "result")] {
        if let (Some(part), Some(text)) = (part, row.try_get(column)?) {
            *part = Part::Whole(text);
        }
    }
    let call_id: Option<String> = row.try_get("call_id")?;
    Ok(Entry {
        task: parsed(&row.try_get::<String, _>("task")?)?,
        sequence: number(row.try_get("seq")?),
        at: instant(row.try_get("at")?),
        step: number(row.try_get("step")?),
        position: row.try_get("position")?,
        call_id: call_id.map(|id| parsed(&id)).transpose()?,
        trace_id: row.try_get("trace_id")?,
        body,
        lengths: lengths(row)?,
    })
}

fn lengths(row: &SqliteRow) -> Result<Lengths, Failed> {
    let whole =
        |column| -> Result<Option<u64>, Failed> { Ok(row.try_get::<Option<i64>, _>(column)?.map(number)) };
    let bytes =
        |column| Ok::<_, Failed>(usize::try_from(whole(column)?.unwrap_or_default()).unwrap_or_default());
    let result = match whole("result_tokens")? {
        Some(tokens) => Some(Length { tokens, first: bytes("result_first")?, last: bytes("result_last")? }),
        None => None,
    };
    Ok(Lengths { input: whole("input_tokens")?, result })
}

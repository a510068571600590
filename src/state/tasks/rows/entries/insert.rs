//! Insertion of entries, whose two long texts are stored separately.

use std::{mem, time::SystemTime};

use crate::tasks::{
    MAX_INLINE_TEXT,
    entry::{Body, Entry, Text},
};
use toolwire_db::{
    Error,
    sql::{AsText, Connection, Statement, Value, insert, row, sql, values},
};
use toolwire_tool::context::{RequestId, TaskId};

/// The maximum number of entries that one statement inserts.
const ROWS: usize = 32;

/// An entry to be inserted.
#[derive(Debug)]
pub(crate) struct NewEntry {
    /// Without its texts.
    entry: Entry,
    request_id: Option<RequestId>,
    head: String,
    input: StoredText,
    result: StoredText,
}

/// A text of an entry to be inserted, and where it is stored.
#[derive(Debug, Default)]
struct StoredText {
    inline: Option<String>,
    external: Option<String>,
    bytes: usize,
}

impl StoredText {
    /// Takes the text out of an entry, and leaves a reference to it if it is stored externally.
    fn take(text: Option<&mut Text>) -> Self {
        let Some(text) = text else { return Self::default() };
        let Text::Inline(content) = text else { return Self::default() };
        let content = mem::take(content);
        let bytes = content.len();
        if bytes <= MAX_INLINE_TEXT {
            return Self { inline: Some(content), external: None, bytes };
        }
        *text = Text::external(&content);
        Self { inline: None, external: Some(content), bytes }
    }
}

impl NewEntry {
    pub(crate) fn new(mut entry: Entry, request_id: Option<RequestId>) -> Self {
        let (input, result) = entry.body.texts();
        let (input, result) = (StoredText::take(input), StoredText::take(result));
        let head = head(&entry.body);
        Self { entry, request_id, head, input, result }
    }

    pub(crate) fn sequence(&self) -> u64 {
        self.entry.sequence
    }

    /// The bytes that it adds to its timeline.
    pub(crate) fn bytes(&self) -> usize {
        self.head.len() + self.input.bytes + self.result.bytes
    }

    fn columns(&mut self) -> [(&'static str, Value); 17] {
        let entry = &self.entry;
        let answers = match &entry.body {
            Body::Answer(answer) => Some(answer.answers),
            _ => None,
        };
        let result = entry.lengths.result;
        row! {
            task = &entry.task, seq = entry.sequence, at = entry.at, kind = entry.body.into_str(), step = entry.step,
            position = entry.position, answers = answers, request_id = self.request_id.map(AsText),
            call_id = entry.call_id, trace_id = entry.trace_id.as_ref(), head = mem::take(&mut self.head),
            input = self.input.inline.take(), result = self.result.inline.take(),
            input_tokens = entry.lengths.input, result_tokens = result.map(|it| it.tokens),
            result_first = result.map(|it| it.first), result_last = result.map(|it| it.last),
        }
    }
}

fn head(body: &Body) -> String {
    serde_json::to_string(body).expect("texts, numbers and lists are JSON")
}

pub(crate) async fn insert(db: &mut Connection, mut entries: Vec<NewEntry>) -> Result<(), Error> {
    for chunk in entries.chunks_mut(ROWS) {
        Statement::insert_all("entries", chunk.iter_mut().map(NewEntry::columns)).run(db).await?;
    }
    for NewEntry { entry, input, result, .. } in entries {
        for (part, text) in [("input", input.external), ("result", result.external)] {
            let Some(text) = text else { continue };
            insert! { entry_parts: task = &entry.task, seq = entry.sequence, part, text }.run(db).await?;
        }
    }
    Ok(())
}

/// Inserts the same last entry into several timelines, and returns its bytes.
pub(crate) async fn insert_last(
    db: &mut Connection,
    tasks: &[TaskId],
    body: &Body,
    now: SystemTime,
) -> Result<usize, Error> {
    let head = head(body);
    let bytes = head.len();
    let insert = sql!(
        "INSERT INTO entries (task, seq, at, kind, step, position, head)
         SELECT id, next, {now}, {body.into_str()}, 0, 0, {head} FROM tasks WHERE id IN ({..values(tasks)})"
    );
    insert.run(db).await?;
    Ok(bytes)
}

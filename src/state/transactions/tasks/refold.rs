//! Compares every task with the fold of its timeline, for a consistency check. Changes nothing.

use futures_util::TryStreamExt;

use super::create::blank;
use crate::tasks::{
    Task,
    entry::{Body, Entry, Text},
    fold,
    rows::{
        StoredTask,
        entries::{
            StoredEntry,
            checked_entry::{CheckedEntry, timeline},
        },
        list,
    },
};
use toolwire_db::{Error, sql::Connection};

/// Number of tasks read by one statement.
const AT_ONCE: u32 = 256;

/// The outcome of a check of all timelines.
#[derive(Debug, Default)]
pub(crate) struct Refolded {
    pub(crate) tasks: u64,
    pub(crate) entries: u64,
    pub(crate) problems: Vec<String>,
}

/// The fold of a task's entries.
struct Fold {
    task: Task,
    bytes: u64,
    /// The token of the last lease.
    token: Option<u64>,
}

/// Checks every task that is not deleted.
pub(crate) async fn refold_all(connection: &mut Connection) -> Result<Refolded, Error> {
    let (mut refolded, mut last) = (Refolded::default(), 0);
    loop {
        let batch = list::all_after(last, AT_ONCE).all(connection).await?;
        let Some(end) = batch.last() else { return Ok(refolded) };
        last = end.number;
        for checked in batch {
            refolded.tasks += 1;
            match checked.task {
                Ok(stored) => refold(connection, &stored, &mut refolded).await?,
                Err(failed) => {
                    let problem = format!("task {} cannot be read: {}", checked.id, describe(&failed));
                    refolded.problems.push(problem);
                }
            }
        }
    }
}

async fn refold(
    connection: &mut Connection,
    stored: &StoredTask,
    refolded: &mut Refolded,
) -> Result<(), Error> {
    let id = &stored.task.id;
    let mut entries = timeline(id).rows(connection);
    let mut fold = Fold { task: initial(&stored.task), bytes: 0, token: None };
    while let Some(entry) = entries.try_next().await? {
        refolded.entries += 1;
        if let Err(problem) = fold.apply(entry) {
            refolded.problems.push(format!("task {id}: {problem}"));
            return Ok(());
        }
    }
    let differences = fold.differences(stored);
    if !differences.is_empty() {
        let problem = format!("task {id} is not what its timeline says: {}", differences.join(", "));
        refolded.problems.push(problem);
    }
    Ok(())
}

/// The task before its first entry; fields that no entry determines are taken from the stored task.
fn initial(stored: &Task) -> Task {
    Task {
        parent: stored.parent.clone(),
        role: stored.role.clone(),
        depth: stored.depth,
        deadline: stored.deadline,
        labels: stored.labels.clone(),
        lease: stored.lease.clone(),
        position: stored.position,
        master: stored.master.clone(),
        ..blank(stored.id.clone(), stored.root.clone(), stored.user.clone(), stored.kind)
    }
}

impl Fold {
    /// Applies an entry, or describes the error.
    fn apply(&mut self, row: CheckedEntry) -> Result<(), String> {
        let CheckedEntry { sequence, entry, kind, answers, external_input, external_result } = row;
        let wrong = |what: &str| format!("entry {sequence} {what}");
        let StoredEntry { mut entry, bytes } =
            entry.map_err(|failed| wrong(&format!("cannot be read: {}", describe(&failed))))?;
        if entry.sequence != self.task.next_sequence {
            return Err(format!("entry {} is missing", self.task.next_sequence));
        }
        self.bytes += bytes as u64;
        self.bytes += inline(&mut entry, external_input, external_result).map_err(|what| wrong(&what))?;
        let answered = match &entry.body {
            Body::Answer(answer) => Some(answer.answers),
            _ => None,
        };
        if kind != entry.body.into_str() || answers != answered {
            return Err(wrong("is not what its columns say"));
        }
        if let Body::Started(started) = &entry.body {
            self.token = Some(started.token);
        }
        fold::apply(&mut self.task, &entry).map_err(|impossible| impossible.to_string())
    }

    /// Names of the fields that differ from the stored task.
    fn differences(&self, stored: &StoredTask) -> Vec<&'static str> {
        let (actual, expected) = (&stored.task, &self.task);
        let checks = [
            ("next", actual.next_sequence == expected.next_sequence),
            ("state", actual.state == expected.state),
            ("waits", actual.waits == expected.waits && actual.waiting_step == expected.waiting_step),
            ("request", actual.request == expected.request && actual.documents == expected.documents),
            (
                "result",
                actual.result == expected.result && actual.result_documents == expected.result_documents,
            ),
            ("message", actual.message == expected.message && actual.cause == expected.cause),
            ("tainted", actual.tainted == expected.tainted),
            ("step", actual.newest_step == expected.newest_step),
            ("created_at", actual.created_at == expected.created_at),
            ("updated_at", actual.updated_at == expected.updated_at),
            ("ended_at", actual.ended_at == expected.ended_at),
            ("lease", actual.lease.as_ref().map(|lease| lease.token) == self.token),
            ("bytes", stored.bytes == self.bytes),
        ];
        checks.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }
}

fn describe(failed: &Error) -> String {
    match failed {
        Error::Store(error) => error.to_string(),
        Error::Database(error) => error.to_string(),
        Error::Shared(error) => error.to_string(),
    }
}

/// Inlines the external texts of an entry, and returns their bytes.
fn inline(entry: &mut Entry, input: Option<String>, result: Option<String>) -> Result<u64, String> {
    let mut bytes = 0;
    let (of_input, of_result) = entry.body.texts();
    for (text, name, stored) in [(of_input, "input", input), (of_result, "result", result)] {
        bytes += stored.as_ref().map_or(0, |stored| stored.len() as u64);
        match (text, stored) {
            (Some(text @ Text::External { .. }), Some(stored)) if *text == Text::external(&stored) => {
                *text = Text::Inline(stored);
            }
            (Some(Text::External { .. }), _) => return Err(format!("has another {name} than was written")),
            (_, None) => {}
            (_, Some(_)) => return Err(format!("has a further {name}")),
        }
    }
    Ok(bytes)
}

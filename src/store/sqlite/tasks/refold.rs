//! Every task against the fold of its timeline, for a look at the whole file. Changes nothing.

use futures_util::TryStreamExt;
use sqlx::{Row as _, SqliteConnection, sqlite::SqliteRow};

use super::{
    create::blank,
    entries,
    rows::{self, Row, number},
};
use crate::{
    sqlite::Failed,
    tasks::{
        Task,
        entry::{Body, Entry, Part},
        fold,
    },
};

/// The tasks that are not deleted, some at a time.
const SOME: &str = "FROM tasks t WHERE t.deleted = 0 AND t.number > ? ORDER BY t.number LIMIT 256";

/// A timeline with the texts that are kept apart.
const TIMELINE: &str = "e.kind, e.answers, i.text AS input_apart, r.text AS result_apart FROM entries e \
     LEFT JOIN entry_parts i ON i.task = e.task AND i.seq = e.seq AND i.part = 'input' \
     LEFT JOIN entry_parts r ON r.task = e.task AND r.seq = e.seq AND r.part = 'result' \
     WHERE e.task = ? ORDER BY e.seq";

/// What a look at all timelines came to.
#[derive(Debug, Default)]
pub(crate) struct Refolded {
    /// How many tasks were looked at.
    pub(crate) tasks: u64,
    pub(crate) entries: u64,
    /// What is not as it must be.
    pub(crate) problems: Vec<String>,
}

/// What the entries make of a task.
struct Fold {
    task: Task,
    bytes: u64,
    /// The last lease that was given.
    token: Option<u64>,
}

/// Looks at every task.
pub(crate) async fn refold_all(connection: &mut SqliteConnection) -> Result<Refolded, sqlx::Error> {
    let (mut found, mut last) = (Refolded::default(), 0_i64);
    let query = format!("SELECT {} {SOME}", rows::COLUMNS);
    loop {
        let some = sqlx::query(sqlx::AssertSqlSafe(query.as_str())).bind(last);
        let some = some.fetch_all(&mut *connection).await?;
        let Some(end) = some.last() else { return Ok(found) };
        last = end.try_get("number")?;
        for row in &some {
            found.tasks += 1;
            match rows::of_row(row) {
                Ok(row) => one(connection, &row, &mut found).await?,
                Err(failed) => {
                    let id: String = row.try_get("id")?;
                    found.problems.push(format!("task {id} cannot be read: {}", words(&failed)));
                }
            }
        }
    }
}

async fn one(
    connection: &mut SqliteConnection,
    stored: &Row,
    found: &mut Refolded,
) -> Result<(), sqlx::Error> {
    let id = &stored.task.id;
    let query = format!("SELECT {}, {TIMELINE}", entries::COLUMNS);
    let mut rows = sqlx::query(sqlx::AssertSqlSafe(query)).bind(id.as_str()).fetch(connection);
    let mut fold = Fold { task: begun(&stored.task), bytes: 0, token: None };
    while let Some(row) = rows.try_next().await? {
        found.entries += 1;
        if let Err(problem) = fold.take(&row) {
            found.problems.push(format!("task {id}: {problem}"));
            return Ok(());
        }
    }
    let other = fold.differs(stored);
    if !other.is_empty() {
        found.problems.push(format!("task {id} is not what its timeline says: {}", other.join(", ")));
    }
    Ok(())
}

/// The task before its first entry: what no entry says is as it is stored.
fn begun(stored: &Task) -> Task {
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
    /// Takes an entry over, or says what is wrong with it.
    fn take(&mut self, row: &SqliteRow) -> Result<(), String> {
        let sequence = number(row.try_get("seq").map_err(|error| error.to_string())?);
        let wrong = |what: &str| format!("entry {sequence} {what}");
        let mut entry =
            entries::of_row(row).map_err(|failed| wrong(&format!("cannot be read: {}", words(&failed))))?;
        if entry.sequence != self.task.next_sequence {
            return Err(format!("entry {} is missing", self.task.next_sequence));
        }
        self.bytes += whole(row, &mut entry).map_err(|what| wrong(&what))?;
        let (kind, answers) = columns(row).map_err(|error| error.to_string())?;
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

    /// What is stored otherwise, by name.
    fn differs(&self, stored: &Row) -> Vec<&'static str> {
        let (is, must) = (&stored.task, &self.task);
        let looks = [
            ("next", is.next_sequence == must.next_sequence),
            ("state", is.state == must.state),
            ("waits", is.waits == must.waits && is.waiting_step == must.waiting_step),
            ("request", is.request == must.request && is.documents == must.documents),
            ("result", is.result == must.result && is.result_documents == must.result_documents),
            ("message", is.message == must.message && is.cause == must.cause),
            ("tainted", is.tainted == must.tainted),
            ("step", is.newest_step == must.newest_step),
            ("created_at", is.created_at == must.created_at),
            ("updated_at", is.updated_at == must.updated_at),
            ("ended_at", is.ended_at == must.ended_at),
            ("lease", is.lease.as_ref().map(|lease| lease.token) == self.token),
            ("bytes", stored.bytes == self.bytes),
        ];
        looks.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }
}

fn words(failed: &Failed) -> String {
    match failed {
        Failed::Store(error) => error.to_string(),
        Failed::Database(error) => error.to_string(),
        Failed::Shared(error) => error.to_string(),
    }
}

fn columns(row: &SqliteRow) -> Result<(String, Option<u64>), sqlx::Error> {
    Ok((row.try_get("kind")?, row.try_get::<Option<i64>, _>("answers")?.map(number)))
}

/// Puts the texts that are kept apart into the entry, and says how many bytes all of it has.
fn whole(row: &SqliteRow, entry: &mut Entry) -> Result<u64, String> {
    let text = |column: &str| row.try_get::<Option<String>, _>(column).map_err(|error| error.to_string());
    let length = |text: Option<String>| text.map_or(0, |text| text.len() as u64);
    let mut bytes = length(text("head")?) + length(text("input")?) + length(text("result")?);
    let (input, result) = entry.body.parts();
    for (part, name, column) in [(input, "input", "input_apart"), (result, "result", "result_apart")] {
        let text = text(column)?;
        bytes += text.as_ref().map_or(0, |text| text.len() as u64);
        match (part, text) {
            (Some(part @ Part::Apart { .. }), Some(text)) if *part == Part::apart(&text) => {
                *part = Part::Whole(text);
            }
            (Some(Part::Apart { .. }), _) => return Err(format!("has another {name} than was written")),
            (_, None) => {}
            (_, Some(_)) => return Err(format!("has a further {name}")),
        }
    }
    Ok(bytes)
}

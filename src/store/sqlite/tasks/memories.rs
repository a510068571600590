//! Notes that agents asked to be remembered: which entries have them. What they say stands in the timelines alone.

use sqlx::{Row as _, sqlite::SqliteRow};

use super::{
    fault::Fault,
    rows::{column, number},
};
use crate::{
    sqlite::{Change, Failed, Sqlite},
    tasks::{Memories, Remembered, Task, TaskCall},
};
use toolwire_tool::context::{TaskId, UserId};

const ADD: &str =
    "INSERT INTO memories (user_id, root, task, seq, scope, untrusted) VALUES (?, ?, ?, ?, ?, ?)";

const NOTES: &str = "SELECT coalesce(e.input, p.text, '') AS input, e.input_tokens, m.untrusted FROM memories m \
     JOIN tasks t ON t.id = m.task AND t.deleted = 0 JOIN entries e ON e.task = m.task AND e.seq = m.seq \
     LEFT JOIN entry_parts p ON p.task = m.task AND p.seq = m.seq AND p.part = 'input'";

/// Keeps that an entry has a note, if it has one. What a task notes that has read text from outside may repeat it.
pub(super) async fn keep(
    change: &mut Change,
    call: &TaskCall,
    task: &Task,
    sequence: u64,
) -> Result<(), Failed> {
    let Some(memory) = call.remembers else { return Ok(()) };
    sqlx::query(ADD)
        .bind(task.user.as_str())
        .bind(task.root.as_str())
        .bind(task.id.as_str())
        .bind(column(sequence))
        .bind(memory.into_str())
        .bind(task.tainted)
        .execute(&mut **change)
        .await?;
    Ok(())
}

impl Sqlite {
    pub(super) async fn notes_of(&self, user: &UserId, id: &TaskId, limit: u32) -> Result<Memories, Fault> {
        let root = self.tree_of_task(user, id).await?.root;
        let of_tree = "WHERE m.root = ? AND m.scope = 'tree'";
        let of_user = "WHERE m.user_id = ? AND m.scope = 'user'";
        Ok(Memories {
            tree: self.notes(of_tree, root.as_str(), limit).await?,
            user: self.notes(of_user, user.as_str(), limit).await?,
        })
    }

    /// The newest ones that a condition is true of, the oldest of them first.
    async fn notes(&self, condition: &str, name: &str, limit: u32) -> Result<Vec<Remembered>, Failed> {
        let query = format!("{NOTES} {condition} ORDER BY m.id DESC LIMIT ?");
        let query = sqlx::query(sqlx::AssertSqlSafe(query)).bind(name).bind(limit);
        let rows = query.fetch_all(self.readers().await?).await?;
        rows.iter().rev().map(remembered).collect()
    }
}

fn remembered(row: &SqliteRow) -> Result<Remembered, Failed> {
    Ok(Remembered {
        input: row.try_get("input")?,
        tokens: row.try_get::<Option<i64>, _>("input_tokens")?.map(number),
        untrusted: row.try_get("untrusted")?,
    })
}

//! The table `memories`: which entries hold notes that agents asked to be remembered. Their words stand in the
//! timelines alone.

use crate::{
    Error, sql,
    sql::{Connection, Statement, record, words},
    tasks::{Memory, Remembered, Task},
};
use toolwire_tool::context::{TaskId, UserId};

words!(Memory);

record!(Remembered, "memory", { input, tokens: "input_tokens", untrusted });

/// The notes to read: those of a tree, or those of a user.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope<'a> {
    Tree(&'a TaskId),
    User(&'a UserId),
}

/// Adds the note of an entry. A task that has read text from outside may repeat it in its notes.
pub(crate) async fn insert(
    connection: &mut Connection,
    task: &Task,
    sequence: u64,
    memory: Memory,
) -> Result<(), Error> {
    let columns = [
        ("user_id", (&task.user).into()),
        ("root", (&task.root).into()),
        ("task", (&task.id).into()),
        ("seq", sequence.into()),
        ("scope", memory.into()),
        ("untrusted", task.tainted.into()),
    ];
    Statement::insert("memories", columns).execute(connection).await?;
    Ok(())
}

/// The newest notes, the newest first.
pub(crate) async fn newest(
    connection: &mut Connection,
    scope: Scope<'_>,
    limit: u32,
) -> Result<Vec<Remembered>, Error> {
    let mut notes = Statement::default();
    notes.push("SELECT coalesce(e.input, p.text, '') AS input, e.input_tokens, m.untrusted FROM memories m");
    notes.push(" JOIN tasks t ON t.id = m.task AND t.deleted = 0");
    notes.push(" JOIN entries e ON e.task = m.task AND e.seq = m.seq");
    notes.push(" LEFT JOIN entry_parts p ON p.task = m.task AND p.seq = m.seq AND p.part = 'input'");
    match scope {
        Scope::Tree(root) => notes.push(" WHERE m.scope = 'tree' AND m.root = ").bind(root),
        Scope::User(user) => notes.push(" WHERE m.scope = 'user' AND m.user_id = ").bind(user),
    };
    notes.push(" ORDER BY m.id DESC LIMIT ").bind(limit);
    notes.all(connection).await
}

pub(crate) async fn delete_of_tree(connection: &mut Connection, root: &TaskId) -> Result<(), Error> {
    sql!("DELETE FROM memories WHERE root = ", root).execute(connection).await?;
    Ok(())
}

//! The table `memories`: which entries hold notes that agents asked to be remembered. Their words stand in the
//! timelines alone.

use crate::{
    sql::{Statement, insert, record, sql, words},
    tasks::{Memory, SavedNote, Task},
};
use toolwire_tool::context::{TaskId, UserId};

words!(Memory);

record!(SavedNote, "memory", { input, tokens: "input_tokens", untrusted });

/// The notes to read: those of a tree, or those of a user.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope<'a> {
    Tree(&'a TaskId),
    User(&'a UserId),
}

/// Adds the note of an entry. A task that has read text from outside may repeat it in its notes.
pub(crate) fn insert(task: &Task, sequence: u64, memory: Memory) -> Statement {
    insert! { memories:
        user_id = &task.user, root = &task.root, task = &task.id, seq = sequence, scope = memory,
        untrusted = task.tainted,
    }
}

/// The newest notes, the newest first.
pub(crate) fn newest(scope: Scope<'_>, limit: u32) -> Statement<SavedNote> {
    let of = match scope {
        Scope::Tree(root) => sql!("m.scope = 'tree' AND m.root = {root}"),
        Scope::User(user) => sql!("m.scope = 'user' AND m.user_id = {user}"),
    };
    sql!(
        "SELECT coalesce(e.input, p.text, '') AS input, e.input_tokens, m.untrusted FROM memories m
         JOIN tasks t ON t.id = m.task AND t.deleted = 0
         JOIN entries e ON e.task = m.task AND e.seq = m.seq
         LEFT JOIN entry_parts p ON p.task = m.task AND p.seq = m.seq AND p.part = 'input'
         WHERE {..of} ORDER BY m.id DESC LIMIT {limit}"
    )
}

pub(crate) fn delete_of_tree(root: &TaskId) -> Statement {
    sql!("DELETE FROM memories WHERE root = {root}")
}

//! The table `memories`: the entries that contain notes saved by agents. The text of a note is in the timeline only.

use crate::tasks::{Memory, SavedNote, Task};
use toolwire_db::sql::{Statement, insert, record, sql, words};
use toolwire_tool::context::{TaskId, UserId};

words!(Memory);

record!(SavedNote, "memory", { input, tokens: "input_tokens", untrusted });

/// The notes to read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope<'a> {
    Tree(&'a TaskId),
    User(&'a UserId),
}

/// Inserts the note of an entry, as untrusted if its task is tainted: the note may repeat what the task has read.
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

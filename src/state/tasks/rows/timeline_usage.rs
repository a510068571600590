//! The table `timeline_usage`: the tasks and timeline bytes of each user, and the position of the last change of a
//! task.

use toolwire_db::sql::{Statement, sql};
use toolwire_tool::context::UserId;

/// The increase of a user's usage by a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UsageDelta {
    pub(crate) tasks: usize,
    pub(crate) bytes: u64,
    /// The number of positions that the change takes.
    pub(crate) positions: usize,
}

/// Accounts for a change and returns the last of its positions, in one statement, since every append needs both.
pub(crate) fn add(user: &UserId, UsageDelta { tasks, bytes, positions }: UsageDelta) -> Statement<u64> {
    sql!(
        "INSERT INTO timeline_usage (user_id, tasks, bytes, last) VALUES ({user}, {tasks}, {bytes}, {positions})
         ON CONFLICT (user_id) DO UPDATE SET tasks = timeline_usage.tasks + excluded.tasks,
         bytes = timeline_usage.bytes + excluded.bytes, last = timeline_usage.last + excluded.last RETURNING last"
    )
}

/// Accounts for deleted tasks. The row of their user is retained, since positions must never be reused.
pub(crate) fn remove(user: &UserId, tasks: usize, bytes: u64) -> Statement {
    sql!("UPDATE timeline_usage SET tasks = tasks - {tasks}, bytes = bytes - {bytes} WHERE user_id = {user}")
}

/// The bytes of a user's timelines.
pub(crate) fn bytes(user: &UserId) -> Statement<u64> {
    sql!("SELECT coalesce((SELECT bytes FROM timeline_usage WHERE user_id = {user}), 0)")
}

/// The position of the last change of a user's tasks.
pub(crate) fn position(user: &UserId) -> Statement<u64> {
    sql!("SELECT coalesce((SELECT last FROM timeline_usage WHERE user_id = {user}), 0)")
}

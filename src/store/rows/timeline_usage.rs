//! The table `timeline_usage`: what the timelines of each user take, and the position of the last change of a task.

use crate::{
    Error, sql,
    sql::{Connection, Scalar},
};
use toolwire_tool::context::UserId;

/// What a change adds to the usage of a user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Added {
    pub(crate) tasks: usize,
    pub(crate) bytes: u64,
    /// The number of positions that it takes.
    pub(crate) positions: usize,
}

/// Accounts for a change and returns the last of its positions: one statement, since every append needs both.
pub(crate) async fn add(connection: &mut Connection, user: &UserId, added: Added) -> Result<u64, Error> {
    let add = sql! {
        "INSERT INTO timeline_usage (user_id, tasks, bytes, last) VALUES (", user,
        ", ", added.tasks,
        ", ", added.bytes,
        ", ", added.positions,
        ") ON CONFLICT (user_id) DO UPDATE SET tasks = timeline_usage.tasks + excluded.tasks,
           bytes = timeline_usage.bytes + excluded.bytes, last = timeline_usage.last + excluded.last
           RETURNING last"
    };
    let Scalar(last) = add.one(connection).await?;
    Ok(last)
}

/// Accounts for tasks that were deleted. Their user's row stays, since positions only grow.
pub(crate) async fn remove(
    connection: &mut Connection,
    user: &UserId,
    tasks: usize,
    bytes: u64,
) -> Result<(), Error> {
    let remove = sql! {
        "UPDATE timeline_usage SET tasks = tasks - ", tasks,
        ", bytes = bytes - ", bytes,
        " WHERE user_id = ", user
    };
    remove.execute(connection).await?;
    Ok(())
}

/// The bytes of a user's timelines.
pub(crate) async fn bytes(connection: &mut Connection, user: &UserId) -> Result<u64, Error> {
    let bytes = sql!("SELECT bytes FROM timeline_usage WHERE user_id = ", user);
    Ok(bytes.optional(connection).await?.map_or(0, |Scalar(bytes)| bytes))
}

/// The position of the last change of a user's tasks.
pub(crate) async fn position(connection: &mut Connection, user: &UserId) -> Result<u64, Error> {
    let position = sql!("SELECT last FROM timeline_usage WHERE user_id = ", user);
    Ok(position.optional(connection).await?.map_or(0, |Scalar(position)| position))
}

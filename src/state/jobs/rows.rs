//! The tables `jobs` and `job_events`.

use std::time::SystemTime;

use crate::jobs::{Ending, Event, Job, JobId, JobUpdate, NewJob, State};
use toolwire_db::{
    Error,
    sql::{Connection, Json, Statement, columns_as, insert, record, select, sql, words},
};
use toolwire_tool::context::UserId;

words!(State);

record!(Job, "job", {
    id: "job_id", digest, kind, state, percent, step, created_at, deadline, ended_at, next, error via Json, result,
});

record!(JobUpdate, "job", { percent, step, message, call_id });

record!(Event, "job", { sequence, at, said: .., is_last });

/// A job, and its position among all jobs.
#[derive(Debug)]
pub(crate) struct Positioned {
    pub(crate) position: i64,
    pub(crate) job: Job,
}

record!(Positioned, "job", { position, job: .. });

pub(crate) fn find(user: &UserId, id: JobId) -> Statement<Positioned> {
    select!(Positioned, "FROM jobs WHERE user_id = {user} AND job_id = {id}")
}

/// The running job of a user; there is at most one.
pub(crate) fn running(user: &UserId) -> Statement<JobId> {
    sql!("SELECT job_id FROM jobs WHERE state = {State::Running} AND user_id = {user}")
}

/// The running jobs of a process.
pub(crate) fn of_replica(replica: &str) -> Statement<Positioned> {
    select!(Positioned, "FROM jobs WHERE state = {State::Running} AND replica = {replica}")
}

/// The processes with running jobs.
pub(crate) fn replicas() -> Statement<String> {
    sql!("SELECT DISTINCT replica FROM jobs WHERE state = {State::Running}")
}

/// Jobs before a position, the newest first, in any of the states; if none is given, in every state. Without results.
pub(crate) fn list(
    user: &UserId,
    states: &[State],
    before: Option<u64>,
    limit: u32,
) -> Statement<Positioned> {
    let columns = columns_as::<Positioned>("", &[("result", "'' AS result")]);
    sql!("SELECT {..columns} FROM jobs WHERE user_id = {user}")
        .when(" AND position < ", before)
        .when_any(" AND state IN (", states.iter().copied())
        .and(sql!(" ORDER BY position DESC LIMIT {limit}"))
}

pub(crate) fn insert(new: &NewJob, replica: &str, now: SystemTime) -> Statement {
    insert! { jobs:
        user_id = &new.user, job_id = new.id, digest = new.digest, kind = &new.kind, state = State::Running,
        percent = 0, step = "", created_at = now, deadline = new.deadline, next = 0, replica, error = "", result = "",
    }
}

pub(crate) fn end(position: i64, ending: &Ending, now: SystemTime) -> Statement {
    let error = Json(ending.error.as_ref());
    sql!(
        "UPDATE jobs SET state = {ending.state}, error = {error}, result = {&ending.result}, ended_at = {now}
         WHERE position = {position}"
    )
}

/// Appends an event with the next sequence number of its job.
pub(crate) async fn append(db: &mut Connection, job: i64, event: &Event) -> Result<(), Error> {
    let Event { sequence, at, said, is_last } = event;
    let JobUpdate { percent, step, message, call_id } = said;
    insert! { job_events: job, sequence, at, percent, step, message, call_id, is_last }.run(db).await?;
    sql!("UPDATE jobs SET next = next + 1, percent = {percent}, step = {step} WHERE position = {job}")
        .run(db)
        .await
}

/// Events of a job from a sequence number on.
pub(crate) fn events(user: &UserId, id: JobId, from: u64, limit: u32) -> Statement<Event> {
    let columns = columns_as::<Event>("e.", &[]);
    sql!(
        "SELECT {..columns} FROM job_events e JOIN jobs j ON j.position = e.job
         WHERE j.user_id = {user} AND j.job_id = {id} AND e.sequence >= {from} ORDER BY e.sequence LIMIT {limit}"
    )
}

/// Positions of jobs that ended by an instant.
pub(crate) fn ended_before(before: SystemTime, limit: u32) -> Statement<i64> {
    sql!("SELECT position FROM jobs WHERE ended_at <= {before} LIMIT {limit}")
}

/// Positions of the ended jobs of a user, except the newest ones.
pub(crate) fn ended_beyond(user: &UserId, newest: u32) -> Statement<i64> {
    sql!(
        "SELECT position FROM jobs WHERE user_id = {user} AND state <> {State::Running}
         ORDER BY position DESC LIMIT {i64::MAX} OFFSET {newest}"
    )
}

/// Deletes a job with its events.
pub(crate) async fn delete(db: &mut Connection, position: i64) -> Result<(), Error> {
    sql!("DELETE FROM job_events WHERE job = {position}").run(db).await?;
    sql!("DELETE FROM jobs WHERE position = {position}").run(db).await
}

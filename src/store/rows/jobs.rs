//! The tables `jobs` and `job_events`.

use std::time::SystemTime;

use crate::{
    Error,
    jobs::{Ending, Event, Job, JobId, NewJob, Said, State},
    select, sql,
    sql::{Connection, Json, Scalar, Statement, record, words},
};
use toolwire_tool::context::UserId;

words!(State);

record!(Job, "job", {
    id: "job_id", digest, kind, state, percent, step, created_at, deadline, ended_at, next, error via Json, result,
});

record!(Said, "job", { percent, step, message, call_id });

record!(Event, "job", { sequence, at, said: .., is_last });

/// A job and its place in the order of all.
#[derive(Debug)]
pub(crate) struct Positioned {
    pub(crate) position: i64,
    pub(crate) job: Job,
}

record!(Positioned, "job", { position, job: .. });

pub(crate) async fn find(
    connection: &mut Connection,
    user: &UserId,
    id: JobId,
) -> Result<Option<Positioned>, Error> {
    select!(Positioned, "FROM jobs WHERE user_id = ", user, " AND job_id = ", id).optional(connection).await
}

/// The job of a user that runs; there is at most one.
pub(crate) async fn running(connection: &mut Connection, user: &UserId) -> Result<Option<JobId>, Error> {
    let running = sql!("SELECT job_id FROM jobs WHERE state = ", State::Running, " AND user_id = ", user);
    Ok(running.optional::<Scalar<JobId>>(connection).await?.map(|Scalar(id)| id))
}

/// The jobs that a process runs.
pub(crate) async fn of_replica(connection: &mut Connection, replica: &str) -> Result<Vec<Positioned>, Error> {
    select!(Positioned, "FROM jobs WHERE state = ", State::Running, " AND replica = ", replica)
        .all(connection)
        .await
}

/// The processes that run jobs.
pub(crate) async fn replicas(connection: &mut Connection) -> Result<Vec<String>, Error> {
    let replicas = sql!("SELECT DISTINCT replica FROM jobs WHERE state = ", State::Running);
    Ok(replicas.all(connection).await?.into_iter().map(|Scalar(replica)| replica).collect())
}

/// Jobs before a position, the newest first, in any of some states or, with none, in any state. Results are left out.
pub(crate) async fn list(
    connection: &mut Connection,
    user: &UserId,
    states: &[State],
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<Positioned>, Error> {
    let mut list =
        Statement::select_without::<Positioned>("result", "'' AS result", "FROM jobs WHERE user_id = ");
    list.bind(user);
    if let Some(before) = before {
        list.push(" AND position < ").bind(before);
    }
    if !states.is_empty() {
        list.push(" AND state IN ").bind_list(states.iter().copied());
    }
    list.push(" ORDER BY position DESC LIMIT ").bind(limit);
    list.all(connection).await
}

pub(crate) async fn insert(
    connection: &mut Connection,
    new: &NewJob,
    replica: &str,
    now: SystemTime,
) -> Result<(), Error> {
    let columns = [
        ("user_id", (&new.user).into()),
        ("job_id", new.id.into()),
        ("digest", new.digest.into()),
        ("kind", (&new.kind).into()),
        ("state", State::Running.into()),
        ("percent", 0.into()),
        ("step", "".into()),
        ("created_at", now.into()),
        ("deadline", new.deadline.into()),
        ("next", 0.into()),
        ("replica", replica.into()),
        ("error", "".into()),
        ("result", "".into()),
    ];
    Statement::insert("jobs", columns).execute(connection).await?;
    Ok(())
}

pub(crate) async fn end(
    connection: &mut Connection,
    position: i64,
    ending: &Ending,
    now: SystemTime,
) -> Result<(), Error> {
    sql!(
        "UPDATE jobs SET state = ",
        ending.state,
        ", error = ",
        Json(ending.error.as_ref()),
        ", result = ",
        &ending.result,
        ", ended_at = ",
        now,
        " WHERE position = ",
        position
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Adds an event with the next sequence of its job.
pub(crate) async fn append(connection: &mut Connection, job: i64, event: &Event) -> Result<(), Error> {
    let Event { sequence, at, said, is_last } = event;
    let columns = [
        ("job", job.into()),
        ("sequence", sequence.into()),
        ("at", at.into()),
        ("percent", said.percent.into()),
        ("step", (&said.step).into()),
        ("message", (&said.message).into()),
        ("call_id", (&said.call_id).into()),
        ("is_last", is_last.into()),
    ];
    Statement::insert("job_events", columns).execute(connection).await?;
    sql!(
        "UPDATE jobs SET next = next + 1, percent = ",
        said.percent,
        ", step = ",
        &said.step,
        " WHERE position = ",
        job
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Events of a job from a sequence on.
pub(crate) async fn events(
    connection: &mut Connection,
    user: &UserId,
    id: JobId,
    from: u64,
    limit: u32,
) -> Result<Vec<Event>, Error> {
    let mut events =
        Statement::select_of::<Event>("e.", "FROM job_events e JOIN jobs j ON j.position = e.job");
    events.push(" WHERE j.user_id = ").bind(user).push(" AND j.job_id = ").bind(id);
    events.push(" AND e.sequence >= ").bind(from).push(" ORDER BY e.sequence LIMIT ").bind(limit);
    events.all(connection).await
}

/// Positions of jobs that ended before an instant.
pub(crate) async fn ended_before(
    connection: &mut Connection,
    before: SystemTime,
    limit: u32,
) -> Result<Vec<i64>, Error> {
    let old = sql!("SELECT position FROM jobs WHERE ended_at <= ", before, " LIMIT ", limit);
    Ok(old.all(connection).await?.into_iter().map(|Scalar(position)| position).collect())
}

/// Positions of the jobs of a user that ended, without the newest.
pub(crate) async fn ended_beyond(
    connection: &mut Connection,
    user: &UserId,
    newest: u32,
) -> Result<Vec<i64>, Error> {
    let beyond = sql!(
        "SELECT position FROM jobs WHERE user_id = ",
        user,
        " AND state <> ",
        State::Running,
        " ORDER BY position DESC LIMIT ",
        i64::MAX,
        " OFFSET ",
        newest
    );
    Ok(beyond.all(connection).await?.into_iter().map(|Scalar(position)| position).collect())
}

/// Deletes a job with its events.
pub(crate) async fn delete(connection: &mut Connection, position: i64) -> Result<(), Error> {
    sql!("DELETE FROM job_events WHERE job = ", position).execute(connection).await?;
    sql!("DELETE FROM jobs WHERE position = ", position).execute(connection).await?;
    Ok(())
}

//! Jobs in SQLite: a row each, and a row for each thing that one has said.

mod change;
mod list;
mod rows;
mod sweep;

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use tokio::sync::watch;

use self::{
    change::{add, end},
    rows::Kept,
};
use super::{Change, Durability, Failed, Sqlite, follow::Topic, time::millis};
use crate::{
    StoreError,
    jobs::{Begun, Ending, Event, Job, JobId, Jobs, MOST_OF_USER, NewJob, Said, State},
};
use toolwire_tool::context::UserId;

const RUNNING: &str = "SELECT job_id FROM jobs WHERE user_id = ? AND state = 'running'";

const BEGIN: &str = "INSERT INTO jobs (user_id, job_id, digest, kind, state, percent, step, created_at, deadline, next, \
     replica, error, result) VALUES (?1, ?2, ?3, ?4, 'running', 0, '', ?5, ?6, 0, ?7, '', '')";

const EVENTS: &str = "SELECT e.sequence, e.at, e.percent, e.step, e.message, e.call_id, e.is_last FROM job_events e \
     JOIN jobs j ON j.position = e.job WHERE j.user_id = ? AND j.job_id = ? AND e.sequence >= ? \
     ORDER BY e.sequence LIMIT ?";

impl Jobs for Sqlite {
    fn begin_job<'a>(&'a self, new: &'a NewJob, now: SystemTime) -> BoxFuture<'a, Result<Begun, StoreError>> {
        Box::pin(async move { self.explain(self.begun_job(new, now).await) })
    }

    fn job<'a>(&'a self, user: &'a UserId, id: JobId) -> BoxFuture<'a, Result<Option<Job>, StoreError>> {
        Box::pin(async move {
            let found = rows::find(self.readers().await?, user, id).await;
            Ok(self.explain(found)?.map(|kept| kept.job))
        })
    }

    fn jobs<'a>(
        &'a self,
        user: &'a UserId,
        states: &'a [State],
        before: Option<u64>,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<(u64, Job)>, StoreError>> {
        Box::pin(async move {
            let readers = self.readers().await?;
            self.explain(list::of_user(readers, user, states, (before, limit)).await)
        })
    }

    fn say<'a>(
        &'a self,
        user: &'a UserId,
        id: JobId,
        said: &'a Said,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { self.explain(self.said_of_job(user, id, said, now).await) })
    }

    fn end_job<'a>(
        &'a self,
        user: &'a UserId,
        id: JobId,
        ending: &'a Ending,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { self.explain(self.ended_job(user, id, ending, now).await) })
    }

    fn events<'a>(
        &'a self,
        user: &'a UserId,
        id: JobId,
        from: u64,
        limit: u32,
    ) -> BoxFuture<'a, Result<Vec<Event>, StoreError>> {
        Box::pin(async move { self.explain(self.events_of_job(user, id, from, limit).await) })
    }

    fn jobs_watched(&self) -> BoxFuture<'_, Result<watch::Receiver<u64>, StoreError>> {
        Box::pin(self.follow(Topic::Jobs))
    }

    fn interrupt_jobs(&self, now: SystemTime) -> BoxFuture<'_, Result<usize, StoreError>> {
        Box::pin(async move { self.explain(self.interrupted_jobs(now).await) })
    }

    fn sweep_jobs(&self, now: SystemTime) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move { self.explain(self.swept_jobs(now).await) })
    }
}

impl Sqlite {
    async fn begun_job(&self, new: &NewJob, now: SystemTime) -> Result<Begun, Failed> {
        // One whose process is gone keeps nobody from starting another.
        self.interrupted_jobs(now).await?;
        let mut change = self.change(Durability::Power).await?;
        let replica = self.replica.id(&self.place)?;
        if let Some(kept) = rows::find(&mut *change, &new.user, new.id).await? {
            change.commit().await?;
            let is_same = kept.job.digest == new.digest && kept.job.kind == new.kind;
            return Ok(if is_same { Begun::Known(kept.job) } else { Begun::Reused });
        }
        let running = sqlx::query(RUNNING).bind(new.user.as_str()).fetch_optional(&mut *change).await?;
        if let Some(running) = running {
            change.commit().await?;
            return Ok(Begun::Running(rows::id(&running)?));
        }
        sqlx::query(BEGIN)
            .bind(new.user.as_str())
            .bind(new.id.as_bytes().as_slice())
            .bind(new.digest.as_bytes().as_slice())
            .bind(&new.kind)
            .bind(millis(now))
            .bind(millis(new.deadline))
            .bind(replica)
            .execute(&mut *change)
            .await?;
        let kept = rows::find(&mut *change, &new.user, new.id).await?;
        sweep::trim(&mut change, &new.user, MOST_OF_USER).await?;
        change.commit().await?;
        kept.map(|kept| Begun::New(kept.job)).ok_or_else(|| rows::unreadable("job_id"))
    }

    async fn said_of_job(
        &self,
        user: &UserId,
        id: JobId,
        said: &Said,
        now: SystemTime,
    ) -> Result<bool, Failed> {
        let mut change = self.change(Durability::Process).await?;
        let Some(kept) = running(&mut change, user, id).await? else { return Ok(false) };
        add(&mut change, &kept, said, now, false).await?;
        change.commit().await?;
        self.followers.tell(Topic::Jobs);
        Ok(true)
    }

    async fn ended_job(
        &self,
        user: &UserId,
        id: JobId,
        ending: &Ending,
        now: SystemTime,
    ) -> Result<bool, Failed> {
        let mut change = self.change(Durability::Power).await?;
        let Some(kept) = running(&mut change, user, id).await? else { return Ok(false) };
        end(&mut change, &kept, ending, now).await?;
        change.commit().await?;
        self.followers.tell(Topic::Jobs);
        Ok(true)
    }

    async fn events_of_job(
        &self,
        user: &UserId,
        id: JobId,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Event>, Failed> {
        let from = i64::try_from(from).unwrap_or(i64::MAX);
        let query = sqlx::query(EVENTS).bind(user.as_str()).bind(id.as_bytes().as_slice());
        let found = query.bind(from).bind(limit).fetch_all(self.readers().await?).await?;
        found.iter().map(rows::event).collect()
    }
}

/// The job, if it runs.
async fn running(change: &mut Change, user: &UserId, id: JobId) -> Result<Option<Kept>, Failed> {
    let kept = rows::find(&mut **change, user, id).await?;
    Ok(kept.filter(|kept| kept.job.state == State::Running))
}

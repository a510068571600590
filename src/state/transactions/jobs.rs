//! Jobs: each is run by one process; any process lists and reads them.

use tokio::sync::watch;

use crate::{
    Store,
    jobs::{
        Begun, Ending, Event, Failure, Job, JobId, JobUpdate, MAX_JOBS_PER_USER, NewJob, RETENTION, State,
        rows::{self, Positioned},
    },
    topic::Topic,
};
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};
use toolwire_tool::context::UserId;

/// Maximum number of jobs deleted by one transaction, each with its events, so that other transactions run in between.
const DELETED_AT_ONCE: u32 = 50;

impl Store {
    /// Begins a job of this process, and deletes the oldest ones beyond the limit of the user.
    pub async fn begin_job(&self, new: &NewJob) -> Result<Begun, StoreError> {
        // First: a job whose process has ended must not count as the running one.
        self.interrupt_jobs().await?;
        let replica = &*self.own_name().await?;
        self.transact(Lane::User(&new.user), Durability::Power, |tx| scoped(begin(tx, new, replica))).await
    }

    pub async fn job(&self, user: &UserId, id: JobId) -> Result<Option<Job>, StoreError> {
        let job = self.fetch_optional(rows::find(user, id)).await?;
        Ok(job.map(|it| it.job))
    }

    /// Jobs of a user before a position, in descending order, each with its position and without its result.
    pub async fn jobs(
        &self,
        user: &UserId,
        states: &[State],
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<(u64, Job)>, StoreError> {
        let jobs = self.fetch_all(rows::list(user, states, before, limit)).await?;
        Ok(jobs.into_iter().map(|it| (it.position.unsigned_abs(), it.job)).collect())
    }

    /// Appends an event to a running job, and returns whether the job is running.
    pub async fn append_job_event(
        &self,
        user: &UserId,
        id: JobId,
        said: &JobUpdate,
    ) -> Result<bool, StoreError> {
        transact_without_clock!(self, Lane::User(user), Durability::Process, |tx| {
            let Some(job) = running(tx, user, id).await? else { return Ok(false) };
            append(tx, &job, said, false).await?;
            Ok(true)
        })
    }

    /// Ends a job with its last event, and returns whether this was the first end, which is the one that counts.
    pub async fn end_job(&self, user: &UserId, id: JobId, ending: &Ending) -> Result<bool, StoreError> {
        transact_without_clock!(self, Lane::User(user), Durability::Power, |tx| {
            let Some(job) = running(tx, user, id).await? else { return Ok(false) };
            end(tx, &job, ending).await?;
            Ok(true)
        })
    }

    /// Events of a job from a sequence number on, in order.
    pub async fn job_events(
        &self,
        user: &UserId,
        id: JobId,
        from: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        self.fetch_all(rows::events(user, id, from, limit)).await
    }

    /// A receiver that changes when any process may have appended an event.
    pub async fn follow_jobs(&self) -> Result<watch::Receiver<u64>, StoreError> {
        self.follow(Topic::Jobs).await
    }

    /// Fails the jobs whose process has ended, and returns their number.
    pub async fn interrupt_jobs(&self) -> Result<usize, StoreError> {
        let replicas = self.fetch_all(rows::replicas()).await?;
        let mut interrupted = 0;
        for replica in &self.find_ended(replicas).await? {
            interrupted +=
                self.transact(Lane::AllUsers, Durability::Power, |tx| scoped(interrupt(tx, replica))).await?;
        }
        Ok(interrupted)
    }

    /// Deletes some of the jobs whose retention ([`RETENTION`]) is over, and returns whether there may be more.
    pub async fn sweep_jobs(&self) -> Result<bool, StoreError> {
        transact!(self, Lane::Platform, Durability::Process, |tx| {
            let old = rows::ended_before(tx.now() - RETENTION, DELETED_AT_ONCE).all(tx).await?;
            for job in &old {
                rows::delete(tx, *job).await?;
            }
            Ok(old.len() >= DELETED_AT_ONCE as usize)
        })
    }
}

async fn begin(tx: &mut Tx, new: &NewJob, replica: &str) -> Result<Begun, Error> {
    let now = tx.now();
    if let Some(Positioned { job, .. }) = rows::find(&new.user, new.id).optional(tx).await? {
        let is_same = job.digest == new.digest && job.kind == new.kind;
        return Ok(if is_same { Begun::Known(job) } else { Begun::Reused });
    }
    if let Some(running) = rows::running(&new.user).optional(tx).await? {
        return Ok(Begun::Running(running));
    }
    rows::insert(new, replica, now).run(tx).await?;
    for job in rows::ended_beyond(&new.user, MAX_JOBS_PER_USER).all(tx).await? {
        rows::delete(tx, job).await?;
    }
    let inserted = rows::find(&new.user, new.id).optional(tx).await?;
    inserted.map(|it| Begun::New(it.job)).ok_or_else(|| Error::unreadable("job", "it is gone"))
}

async fn running(tx: &mut Tx, user: &UserId, id: JobId) -> Result<Option<Positioned>, Error> {
    Ok(rows::find(user, id).optional(tx).await?.filter(|it| it.job.state == State::Running))
}

/// Appends an event. The progress of a job is monotonic.
async fn append(
    tx: &mut Tx,
    Positioned { position, job }: &Positioned,
    said: &JobUpdate,
    is_last: bool,
) -> Result<(), Error> {
    let now = tx.now();
    tx.adds(said.message.len());
    tx.notify(Topic::Jobs);
    let said = JobUpdate { percent: said.percent.max(job.percent).min(100), ..said.clone() };
    rows::append(tx, *position, &Event { sequence: job.next, at: now, said, is_last }).await
}

async fn end(tx: &mut Tx, job: &Positioned, ending: &Ending) -> Result<(), Error> {
    append(tx, job, &ending.last_update(job.job.percent, &job.job.step), true).await?;
    tx.adds(ending.result.len());
    let end = rows::end(job.position, ending, tx.now());
    end.run(tx).await
}

async fn interrupt(tx: &mut Tx, replica: &str) -> Result<usize, Error> {
    let jobs = rows::of_replica(replica).all(tx).await?;
    for job in &jobs {
        end(tx, job, &Ending::failed(Failure::interrupted(), String::new())).await?;
    }
    Ok(jobs.len())
}

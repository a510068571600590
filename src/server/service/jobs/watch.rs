//! Watches a job: its events in order, read from the store by sequence and nothing else. A lost hint, a slow reader or
//! a restart costs time only.

use std::{collections::VecDeque, time::Duration};

use tokio::{
    select,
    sync::watch::Receiver,
    time::{Instant, sleep_until},
};

use super::{Jobs, parse_id, unknown};
use crate::service::unavailable::unavailable;
use toolwire_base::clock;
use toolwire_contract::{JobRefusal, Refusal};
use toolwire_store::jobs::{Event, Job, JobId};
use toolwire_tool::context::User;

/// Maximum number of events per read.
const AT_ONCE: u32 = 500;

/// The interval of polling for changes by other processes, of which nothing notifies this one.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The interval at which a silent watch sends a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(20);

#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    /// An event of the job; with the last one comes the ended job.
    Event(Event, Option<Box<Job>>),
    /// There was no event for a while.
    Heartbeat,
}

#[derive(Debug)]
pub struct Watch {
    jobs: Jobs,
    user: User,
    id: JobId,
    changed: Receiver<u64>,
    next: u64,
    is_over: bool,
    pending: VecDeque<Event>,
    spoke: Instant,
}

impl Jobs {
    /// Watches a job: every event after the given one. The end of the watch never ends the job.
    pub async fn watch(&self, user: User, id: &str, after: Option<u64>) -> Result<Watch, Refusal> {
        let id = parse_id(id)?;
        let changed = self.parts.store.follow_jobs().await.map_err(|error| unavailable(&error))?;
        let job = self.find(&user, id).await?.ok_or_else(|| unknown(&id))?;
        if let Some(sequence) = after.filter(|after| *after >= job.next) {
            return Err(JobRefusal::NoSuchEvent { sequence, events: job.next }.into());
        }
        let next = after.map_or(0, |after| after + 1);
        // After the last event nothing comes.
        let is_over = job.ended_at.is_some() && next >= job.next;
        let pending = VecDeque::new();
        Ok(Watch { jobs: self.clone(), user, id, changed, next, is_over, pending, spoke: clock::now() })
    }
}

impl Watch {
    /// The next event; `None` after the last one. An error of the store ends the watch, which can be resumed after its
    /// last event.
    pub async fn next(&mut self) -> Result<Option<WatchEvent>, Refusal> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                self.spoke = clock::now();
                self.next = event.sequence + 1;
                self.is_over = event.is_last;
                return self.watch_event(event).await.map(Some);
            }
            if self.is_over {
                return Ok(None);
            }
            self.changed.mark_unchanged();
            let events = self.jobs.parts.store.job_events(&self.user.id, self.id, self.next, AT_ONCE).await;
            self.pending = events.map_err(|error| unavailable(&error))?.into();
            if !self.pending.is_empty() {
                continue;
            }
            let until = self.spoke + HEARTBEAT;
            if clock::now() >= until {
                self.spoke = clock::now();
                // It may have been forgotten meanwhile.
                self.jobs.find(&self.user, self.id).await?.ok_or_else(|| unknown(&self.id))?;
                return Ok(Some(WatchEvent::Heartbeat));
            }
            self.look_again(until).await;
        }
    }

    async fn watch_event(&self, event: Event) -> Result<WatchEvent, Refusal> {
        let ended = if event.is_last { self.jobs.find(&self.user, self.id).await? } else { None };
        Ok(WatchEvent::Event(event, ended.map(Box::new)))
    }

    /// Waits until something may have been said, or the given instant.
    async fn look_again(&mut self, until: Instant) {
        let until = until.min(clock::now() + POLL_INTERVAL);
        select! {
            told = self.changed.changed() => if told.is_err() { sleep_until(until).await },
            () = sleep_until(until) => {}
        }
    }
}

//! Watches a job: its events in order. They are read from the store by sequence, and a notification only triggers a
//! read. A lost notification, a slow reader or a restart therefore delays events, and skips or repeats none.

use std::collections::VecDeque;

use tokio::{sync::watch::Receiver, time::Instant};

use super::{Jobs, parse_id, unknown};
use toolwire_base::clock;
use toolwire_contract::{JobRefusal, Refusal};
use toolwire_server::service::{
    changes::{HEARTBEAT, ReadSize, wait_for_change},
    unavailable::unavailable,
};
use toolwire_state::jobs::{Event, Job, JobId};
use toolwire_tool::context::User;

#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    /// An event of the job, and the ended job with the last one.
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
    /// The sequence of the next event to send.
    next: u64,
    read_size: ReadSize,
    is_over: bool,
    /// Events that were read and not sent yet.
    pending: VecDeque<Event>,
    /// The time of the last event, or of the beginning.
    last_sent: Instant,
}

impl Jobs {
    /// Watches a job: every event after the given one. The end of the watch never ends the job.
    pub async fn watch(&self, user: User, id: &str, after: Option<u64>) -> Result<Watch, Refusal> {
        let id = parse_id(id)?;
        // Subscribed before the job is read, so that no event after that read goes unnoticed.
        let changed = self.parts.store.follow_jobs().await.map_err(|error| unavailable(&error))?;
        let job = self.find(&user, id).await?.ok_or_else(|| unknown(&id))?;
        if let Some(sequence) = after.filter(|after| *after >= job.next) {
            return Err(JobRefusal::NoSuchEvent { sequence, events: job.next }.into());
        }
        let next = after.map_or(0, |after| after + 1);
        // Nothing follows the last event, which the caller already has.
        let is_over = job.ended_at.is_some() && next >= job.next;
        let pending = VecDeque::new();
        let (read_size, last_sent) = (ReadSize::default(), clock::now());
        Ok(Watch { jobs: self.clone(), user, id, changed, next, read_size, is_over, pending, last_sent })
    }
}

impl Watch {
    /// The next event; `None` after the last one. An error of the store ends the watch, which can be resumed after its
    /// last event.
    pub async fn next(&mut self) -> Result<Option<WatchEvent>, Refusal> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                self.last_sent = clock::now();
                self.next = event.sequence + 1;
                self.is_over = event.is_last;
                return self.watch_event(event).await.map(Some);
            }
            if self.is_over {
                return Ok(None);
            }
            // Before the read: an event that is committed during it is a change.
            self.changed.mark_unchanged();
            let size = self.read_size.get();
            let events = self.jobs.parts.store.job_events(&self.user.id, self.id, self.next, size).await;
            self.pending = events.map_err(|error| unavailable(&error))?.into();
            self.read_size.adapt_to(self.pending.len());
            if !self.pending.is_empty() {
                continue;
            }
            let until = self.last_sent + HEARTBEAT;
            if clock::now() >= until {
                self.last_sent = clock::now();
                // A watch of a job that was deleted meanwhile must end, and would send heartbeats forever.
                self.jobs.find(&self.user, self.id).await?.ok_or_else(|| unknown(&self.id))?;
                return Ok(Some(WatchEvent::Heartbeat));
            }
            wait_for_change(&mut self.changed, until).await;
        }
    }

    async fn watch_event(&self, event: Event) -> Result<WatchEvent, Refusal> {
        let ended = if event.is_last { self.jobs.find(&self.user, self.id).await? } else { None };
        Ok(WatchEvent::Event(event, ended.map(Box::new)))
    }
}

//! Timelines: read in pages, entry by entry, or followed as they grow.

use std::collections::VecDeque;

use tokio::{sync::watch::Receiver, time::Instant};

use super::{Tasks, parse_id, why};
use crate::service::{
    changes::{HEARTBEAT, ReadSize, wait_for_change},
    page::Sizes,
};
use toolwire_base::clock;
use toolwire_contract::{Refusal, TaskRefusal};
use toolwire_state::tasks::{
    Page, PageRequest, Task,
    entry::{Body, Entry},
};
use toolwire_tool::context::{TaskId, User};

const SIZES: Sizes = Sizes { default: 100, max: 1_000 };

/// A step of a timeline that is followed.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The task as it stands: first, and never again.
    Snapshot(Box<Task>),
    Entry(Box<Entry>),
    /// There was no entry for a while; every one was sent.
    CaughtUp,
}

/// Follows one timeline. Reads the store by sequence and nothing else: a lost hint or a slow reader costs time only.
#[derive(Debug)]
pub struct Following {
    tasks: Tasks,
    user: User,
    id: TaskId,
    changed: Receiver<u64>,
    next: u64,
    read_size: ReadSize,
    is_over: bool,
    pending: VecDeque<Step>,
    /// The time of the last step, or of the beginning.
    last_sent: Instant,
}

impl Tasks {
    /// A page of a timeline, from an entry on in either direction. `size` 0 is the usual size.
    pub async fn timeline(
        &self,
        user: &User,
        id: &str,
        from: Option<u64>,
        backwards: bool,
        size: i32,
    ) -> Result<Page, Refusal> {
        let id = parse_id(id)?;
        let limit = SIZES.of(size)?;
        let page = self.0.store.timeline_page(&user.id, &id, PageRequest { from, backwards, limit }).await;
        page.map_err(why(&id))
    }

    pub async fn entry(&self, user: &User, id: &str, sequence: u64) -> Result<Entry, Refusal> {
        let id = parse_id(id)?;
        let entry = self.0.store.timeline_entry(&user.id, &id, sequence).await.map_err(why(&id))?;
        if let Some(entry) = entry {
            return Ok(entry);
        }
        let task = self.0.store.task(&user.id, &id).await.map_err(why(&id))?;
        Err(TaskRefusal::NoSuchEntry { sequence, entries: task.next_sequence }.into())
    }

    /// Follows a timeline: the task as it stands, then every entry after the given one.
    pub async fn follow(&self, user: User, id: &str, after: Option<u64>) -> Result<Following, Refusal> {
        let id = parse_id(id)?;
        let changed = self.subscribe().await?;
        let task = self.0.store.task(&user.id, &id).await.map_err(why(&id))?;
        if let Some(sequence) = after.filter(|after| *after >= task.next_sequence) {
            return Err(TaskRefusal::NoSuchEntry { sequence, entries: task.next_sequence }.into());
        }
        let next = after.map_or(0, |after| after + 1);
        // Nothing follows the last entry, which the caller already has.
        let is_over = task.state.is_final() && next >= task.next_sequence;
        let pending = VecDeque::from([Step::Snapshot(Box::new(task))]);
        Ok(Following {
            tasks: self.clone(),
            user,
            id,
            changed,
            next,
            read_size: ReadSize::default(),
            is_over,
            pending,
            last_sent: clock::now(),
        })
    }
}

impl Following {
    /// The next step; `None` after the last entry of an ended task. An error of the store ends the stream, which can be
    /// resumed after its last entry.
    pub async fn next(&mut self) -> Result<Option<Step>, Refusal> {
        loop {
            if let Some(step) = self.pending.pop_front() {
                self.last_sent = clock::now();
                return Ok(Some(step));
            }
            if self.is_over {
                return Ok(None);
            }
            self.changed.mark_unchanged();
            if self.read_on().await? {
                continue;
            }
            let until = self.last_sent + HEARTBEAT;
            if clock::now() >= until {
                self.pending.push_back(Step::CaughtUp);
                continue;
            }
            wait_for_change(&mut self.changed, until).await;
        }
    }

    /// Reads the next entries. Returns whether there were any.
    async fn read_on(&mut self) -> Result<bool, Refusal> {
        let page = PageRequest { from: Some(self.next), backwards: false, limit: self.read_size.get() };
        let read =
            self.tasks.0.store.timeline_page(&self.user.id, &self.id, page).await.map_err(why(&self.id))?;
        let has_come = !read.entries.is_empty();
        self.read_size.adapt_to(read.entries.len());
        for entry in read.entries {
            self.next = entry.sequence + 1;
            self.is_over = matches!(entry.body, Body::Ended(_));
            self.pending.push_back(Step::Entry(Box::new(entry)));
        }
        Ok(has_come)
    }
}

//! Watches tasks: those that have not ended, then every change, read from the store by position.
//!
//! Several changes of a task at once are one event; its last state is never missed, whichever process changed it.

use std::collections::VecDeque;

use tokio::{sync::watch::Receiver, time::Instant};

use super::{Tasks, list::check};
use crate::service::changes::{HEARTBEAT, ReadSize, wait_for_change};
use toolwire_base::clock;
use toolwire_contract::{Refusal, TaskRefusal};
use toolwire_engine::pipeline::task_refusal;
use toolwire_state::tasks::{Changes, Filter, Scope, Task, TaskError};
use toolwire_tool::context::{TaskId, User};

#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    Changed(Box<Task>),
    /// All tasks that have not ended were sent; the position of the last change before this.
    Synced(u64),
    /// There was no change for a while; the position of the last one.
    Heartbeat(u64),
}

/// Watches on behalf of one user.
#[derive(Debug)]
pub struct Watch {
    tasks: Tasks,
    user: User,
    filter: Filter,
    changed: Receiver<u64>,
    /// The position up to which everything is read.
    read: u64,
    read_size: ReadSize,
    is_synced: bool,
    pending: VecDeque<WatchEvent>,
    /// The time of the last event, or of the beginning.
    last_sent: Instant,
}

impl Tasks {
    /// Watches the user's tasks: those that have not ended, or, after a position, every change since.
    pub async fn watch(&self, user: User, filter: Filter, after: u64) -> Result<Watch, Refusal> {
        check(&filter)?;
        if let Scope::Tree(id) = &filter.scope {
            self.get(&user, id.as_str()).await?;
        }
        let changed = self.subscribe().await?;
        let mut watch = Watch {
            tasks: self.clone(),
            user,
            filter,
            changed,
            read: after,
            read_size: ReadSize::default(),
            is_synced: false,
            pending: VecDeque::new(),
            last_sent: clock::now(),
        };
        // Before the stream begins, so that an invalid position is refused as the answer.
        watch.read_on().await?;
        Ok(watch)
    }

    /// A notification that tasks may have changed.
    pub(super) async fn subscribe(&self) -> Result<Receiver<u64>, Refusal> {
        let followed = self.0.store.follow_tasks().await;
        followed.map_err(|error| task_refusal(&TaskId::generate(), TaskError::Store(error)))
    }
}

impl Watch {
    /// The next event. An error of the store ends the watch, which can be resumed from its last position.
    pub async fn next(&mut self) -> Result<WatchEvent, Refusal> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                self.last_sent = clock::now();
                return Ok(event);
            }
            self.changed.mark_unchanged();
            if self.read_on().await? {
                continue;
            }
            if !self.is_synced {
                self.is_synced = true;
                self.pending.push_back(WatchEvent::Synced(self.read));
                continue;
            }
            let until = self.last_sent + HEARTBEAT;
            if clock::now() >= until {
                self.pending.push_back(WatchEvent::Heartbeat(self.read));
                continue;
            }
            wait_for_change(&mut self.changed, until).await;
        }
    }

    /// Reads the next changes. Returns whether there were events, or there is more to read.
    async fn read_on(&mut self) -> Result<bool, Refusal> {
        let size = self.read_size.get();
        let read = self.tasks.0.store.task_changes(&self.user.id, &self.filter, self.read, size).await;
        let Changes { tasks, up_to, more } =
            read.map_err(|error| task_refusal(&TaskId::generate(), error))?;
        if up_to < self.read {
            return Err(TaskRefusal::NoSuchPosition { last: up_to }.into());
        }
        self.read = up_to;
        self.read_size.adapt(more);
        let has_changed = !tasks.is_empty();
        self.pending.extend(tasks.into_iter().map(|task| WatchEvent::Changed(Box::new(task))));
        Ok(has_changed || more)
    }
}

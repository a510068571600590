//! Watches confirmations: what is open, then every change, read from the store by position, so that nothing is missed
//! or repeated, whichever process changed it.

use std::collections::VecDeque;

use tokio::{
    select,
    time::{Instant, sleep_until},
};

use super::{ConfirmationView, Confirmations, Filter};
use crate::service::{
    changes::{HEARTBEAT, ReadSize},
    unavailable::unavailable,
};
use toolwire_base::clock;
use toolwire_contract::Refusal;
use toolwire_state::{
    Store,
    confirmations::{Change, Page, Scope},
};
use toolwire_tool::context::User;

#[derive(Clone, Debug)]
pub enum WatchEvent {
    /// The confirmation was requested, or is open as the watch begins.
    Requested(WatchedConfirmation),
    Changed(WatchedConfirmation),
    /// All open confirmations were sent; the position of the last change before this.
    Synced(u64),
    /// There was no event for a while; the position of the last change.
    Heartbeat(u64),
}

/// A confirmation in a watch.
#[derive(Clone, Debug)]
pub struct WatchedConfirmation {
    /// The confirmation as it stood after the change.
    pub viewed: Box<ConfirmationView>,
    pub at: std::time::SystemTime,
}

/// Watches on behalf of one user.
#[derive(Debug)]
pub struct Watch {
    confirmations: Confirmations,
    user: User,
    /// The confirmations among which its positions are counted.
    scope: Scope,
    filter: Filter,
    changed: tokio::sync::watch::Receiver<u64>,
    /// The position up to which everything is read.
    read: u64,
    read_size: ReadSize,
    is_synced: bool,
    /// While the open confirmations are read: the position after which their next part begins.
    opening: Option<u64>,
    pending: VecDeque<WatchEvent>,
    /// The time of the last event, or of the beginning.
    last_sent: Instant,
}

impl Confirmations {
    /// Watches what the user may see: what is open, or, after a position, every change since.
    pub async fn watch(&self, user: User, filter: Filter, after: u64) -> Result<Watch, Refusal> {
        filter.check()?;
        let changed = self.0.store.follow_confirmations().await.map_err(|error| unavailable(&error))?;
        let mut watch = Watch {
            scope: self.scope(&user),
            confirmations: self.clone(),
            user,
            filter,
            changed,
            read: after,
            read_size: ReadSize::default(),
            is_synced: after == 0,
            opening: None,
            pending: VecDeque::new(),
            last_sent: clock::now(),
        };
        if after == 0 {
            watch.begin().await?;
        } else {
            watch.check_position().await?;
        }
        Ok(watch)
    }
}

impl Watch {
    /// The next event. An error of the store ends the watch, which can be resumed from its last position.
    pub async fn next(&mut self) -> Result<WatchEvent, Refusal> {
        loop {
            if let Some(news) = self.pending.pop_front() {
                self.last_sent = clock::now();
                return Ok(news);
            }
            if let Some(after) = self.opening {
                self.read_open(after).await?;
                continue;
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
            select! {
                _ = self.changed.changed() => {}
                () = sleep_until(until) => {}
            }
        }
    }

    async fn begin(&mut self) -> Result<(), Refusal> {
        self.read = self
            .store()
            .confirmation_change_range(&self.scope)
            .await
            .map_err(|error| unavailable(&error))?
            .last;
        self.opening = Some(0);
        Ok(())
    }

    /// Reads the next part of the open confirmations. One that changes meanwhile follows as a change.
    async fn read_open(&mut self, after: u64) -> Result<(), Refusal> {
        let page = match self.confirmations.criteria(&self.user, &self.filter) {
            Some(criteria) => {
                let selection = (&self.scope, &criteria);
                let between = (after, self.read);
                let page = self.store().list_open_confirmations(&self.user.id, selection, between).await;
                page.map_err(|error| unavailable(&error))?
            }
            None => Page::default(),
        };
        self.opening = page.confirmations.last().filter(|_| page.more).map(|last| last.at(&self.scope));
        for confirmation in page.confirmations {
            let at = confirmation.decided.as_ref().map_or(confirmation.created_at, |decided| decided.at);
            self.tell(Change { confirmation, at }, WatchEvent::Requested);
        }
        if self.opening.is_none() {
            self.pending.push_back(WatchEvent::Synced(self.read));
        }
        Ok(())
    }

    /// Checks that every change after the position is still stored.
    async fn check_position(&self) -> Result<(), Refusal> {
        let kept =
            self.store().confirmation_change_range(&self.scope).await.map_err(|error| unavailable(&error))?;
        let first = kept.first.saturating_sub(1);
        if (first..=kept.last).contains(&self.read) {
            return Ok(());
        }
        Err(Refusal::NoSuchSequence { first, last: kept.last })
    }

    /// Reads the next changes. Returns whether there were any.
    async fn read_on(&mut self) -> Result<bool, Refusal> {
        let changes = self.store().confirmation_changes(&self.scope, self.read, self.read_size.get()).await;
        let changes = changes.map_err(|error| unavailable(&error))?;
        self.read_size.adapt_to(changes.len());
        let has_changed = !changes.is_empty();
        for change in changes {
            self.read = change.confirmation.at(&self.scope);
            let news = match change.confirmation.state {
                toolwire_state::confirmations::life::State::Pending => WatchEvent::Requested,
                _ => WatchEvent::Changed,
            };
            self.tell(change, news);
        }
        Ok(has_changed)
    }

    fn tell(&mut self, change: Change, news: impl FnOnce(WatchedConfirmation) -> WatchEvent) {
        let Change { confirmation, at } = change;
        if !self.confirmations.may_see(&self.user, &confirmation) {
            return;
        }
        let viewed = self.confirmations.view(&self.user, confirmation);
        if self.filter.passes(&viewed) {
            self.pending.push_back(news(WatchedConfirmation { viewed: Box::new(viewed), at }));
        }
    }

    fn store(&self) -> &Store {
        &self.confirmations.0.store
    }
}

//! Waiting for one confirmation. A change by this process notifies its waiters at once; changes by other processes are
//! polled, with one poll for all concurrent waiters.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    select,
    sync::watch,
    time::{Instant, sleep, sleep_until},
};

use crate::{
    confirmations::{Scope, SequenceRange},
    engine::{Error, Store},
    rows::confirmation_events as rows,
};
use toolwire_base::clock;
use toolwire_contract::ConfirmationId;

/// The interval at which a waiter polls, which bounds the delay of changes by other processes.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The shortest interval between polls of all waiters.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Entries without a waiter are removed from the map when it has this many.
const PRUNE_AT: usize = 64;

/// Maximum number of changes that are notified individually. Beyond it, every waiter is notified.
const MAX_NOTIFIED: u32 = 256;

#[derive(Debug)]
pub(crate) struct Waiters {
    senders: Mutex<Senders>,
    polled: tokio::sync::Mutex<Polled>,
}

#[derive(Debug)]
struct Senders {
    by_id: HashMap<ConfirmationId, watch::Sender<()>>,
    prune_at: usize,
}

/// The position up to which changes were polled, and when.
#[derive(Debug, Default)]
struct Polled {
    seen: Option<u64>,
    at: Option<Instant>,
}

impl Store {
    /// A receiver that changes when this process has changed any confirmation.
    pub fn follow_confirmations(&self) -> watch::Receiver<u64> {
        self.confirmations_changed.subscribe()
    }

    /// A receiver that changes when this confirmation may have changed: at once for changes by this process, otherwise
    /// when a waiter [polls](Self::poll_confirmations).
    pub fn follow_confirmation(&self, id: &ConfirmationId) -> watch::Receiver<()> {
        self.confirmation_waiters.subscribe(id)
    }

    /// Waits until any process may have changed a confirmation, or until the given instant.
    pub async fn confirmation_may_have_changed(&self, changes: &mut watch::Receiver<()>, until: Instant) {
        let polling = async {
            loop {
                sleep(POLL_INTERVAL).await;
                self.poll_confirmations().await;
            }
        };
        select! {
            _ = changes.changed() => {}
            () = sleep_until(until) => {}
            () = polling => {}
        }
    }

    /// Notifies waiters of changes by other processes. Returns at once while another waiter polls.
    pub async fn poll_confirmations(&self) {
        let Ok(mut polled) = self.confirmation_waiters.polled.try_lock() else { return };
        if !polled.is_due() {
            return;
        }
        match self.explain(self.changed_since(polled.seen).await) {
            Ok((Some(ids), last)) => {
                polled.seen = Some(last);
                for id in ids {
                    self.confirmation_waiters.notify(&id);
                }
            }
            Ok((None, last)) => {
                polled.seen = Some(last);
                self.confirmation_waiters.notify_all();
            }
            // Every waiter then reads its confirmation, and receives the error.
            Err(_) => self.confirmation_waiters.notify_all(),
        }
    }

    /// The confirmations that changed after a position, and the position up to which changes were read. `None`: too
    /// many to notify individually.
    async fn changed_since(&self, seen: Option<u64>) -> Result<(Option<Vec<ConfirmationId>>, u64), Error> {
        let mut reader = self.reader().await?;
        if let Some(seen) = seen {
            let changed = rows::changed_since(seen, MAX_NOTIFIED).all(&mut reader).await?;
            if changed.len() < MAX_NOTIFIED as usize {
                let last = changed.last().map_or(seen, |(sequence, _)| *sequence);
                return Ok((Some(changed.into_iter().map(|(_, id)| id).collect()), last));
            }
        }
        let SequenceRange { last, .. } = rows::range(&mut reader, &Scope::All).await?;
        Ok((None, last))
    }
}

impl Default for Waiters {
    fn default() -> Self {
        let senders = Mutex::new(Senders { by_id: HashMap::new(), prune_at: PRUNE_AT });
        Self { senders, polled: tokio::sync::Mutex::default() }
    }
}

impl Waiters {
    fn subscribe(&self, id: &ConfirmationId) -> watch::Receiver<()> {
        let mut senders = self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        if senders.by_id.len() >= senders.prune_at {
            senders.by_id.retain(|_, sender| sender.receiver_count() > 0);
            senders.prune_at = PRUNE_AT.max(2 * senders.by_id.len());
        }
        senders.by_id.entry(id.clone()).or_insert_with(|| watch::Sender::new(())).subscribe()
    }

    pub(super) fn notify(&self, id: &ConfirmationId) {
        let senders = self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = senders.by_id.get(id) {
            sender.send_replace(());
        }
    }

    pub(super) fn notify_all(&self) {
        for sender in self.senders.lock().unwrap_or_else(PoisonError::into_inner).by_id.values() {
            sender.send_replace(());
        }
    }
}

impl Polled {
    /// Whether another poll is due, which is then counted as made.
    fn is_due(&mut self) -> bool {
        let now = clock::now();
        let is_due = self.at.is_none_or(|at| now - at >= MIN_POLL_INTERVAL);
        if is_due {
            self.at = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiter_is_notified_of_its_confirmation_and_of_no_other() {
        let (waiters, one, other) =
            (Waiters::default(), ConfirmationId::generate(), ConfirmationId::generate());
        let (mut of_one, of_other) = (waiters.subscribe(&one), waiters.subscribe(&other));
        waiters.notify(&one);
        assert!(of_one.has_changed().unwrap() && !of_other.has_changed().unwrap());
        of_one.mark_unchanged();
        waiters.notify_all();
        assert!(of_one.has_changed().unwrap() && of_other.has_changed().unwrap());
    }

    #[test]
    fn confirmations_without_a_waiter_are_removed() {
        let waiters = Waiters::default();
        let stays = waiters.subscribe(&ConfirmationId::generate());
        for _ in 0..10 * PRUNE_AT {
            drop(waiters.subscribe(&ConfirmationId::generate()));
        }
        assert!(waiters.senders.lock().unwrap().by_id.len() <= PRUNE_AT);
        waiters.notify_all();
        assert!(stays.has_changed().unwrap(), "one with a waiter is not removed");
    }
}

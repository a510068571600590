//! Waiting for one confirmation. A change by this process notifies its waiters at once; when another process may have
//! changed some, one read serves all concurrent waiters.

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
    Store,
    confirmations::{Scope, rows::events as rows},
    topic::Topic,
};
use toolwire_contract::ConfirmationId;
use toolwire_db::{Error, StoreError};

/// A waiter reads its confirmation again after this long if the state could not be followed or read.
const RETRY_DELAY: Duration = Duration::from_millis(500);

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

/// What was read of the changes of other processes.
#[derive(Debug, Default)]
struct Polled {
    /// The position up to which changes were read.
    last: Option<u64>,
    /// The notification after which they were read.
    notification: Option<u64>,
}

impl Store {
    /// A receiver that changes when any process may have changed a confirmation.
    pub async fn follow_confirmations(&self) -> Result<watch::Receiver<u64>, StoreError> {
        self.follow(Topic::Confirmations).await
    }

    /// A receiver that changes when this confirmation may have changed: at once for changes by this process, otherwise
    /// while a waiter [waits](Self::confirmation_may_have_changed).
    pub fn follow_confirmation(&self, id: &ConfirmationId) -> watch::Receiver<()> {
        self.confirmation_waiters.subscribe(id)
    }

    /// Waits until any process may have changed a confirmation, or until the given instant.
    pub async fn confirmation_may_have_changed(&self, changes: &mut watch::Receiver<()>, until: Instant) {
        let following = async {
            let Ok(mut elsewhere) = self.follow(Topic::Elsewhere).await else {
                return sleep(RETRY_DELAY).await;
            };
            // Also before the first notification: a change may lie between the waiter's read and this.
            loop {
                let notification = *elsewhere.borrow_and_update();
                // While the state cannot be read, each waiter reads its confirmation at this interval, and no faster.
                if self.notify_changes_elsewhere(notification).await.is_err()
                    || elsewhere.changed().await.is_err()
                {
                    return sleep(RETRY_DELAY).await;
                }
            }
        };
        select! {
            _ = changes.changed() => {}
            () = sleep_until(until) => {}
            () = following => {}
        }
    }

    /// Notifies waiters of changes by other processes, unless another waiter has since this notification.
    async fn notify_changes_elsewhere(&self, notification: u64) -> Result<(), StoreError> {
        let mut polled = self.confirmation_waiters.polled.lock().await;
        if polled.notification == Some(notification) {
            return Ok(());
        }
        let (ids, last) = self.explain(self.changed_since(polled.last).await)?;
        *polled = Polled { last: Some(last), notification: Some(notification) };
        match ids {
            Some(ids) => ids.iter().for_each(|id| self.confirmation_waiters.notify(id)),
            None => self.confirmation_waiters.notify_all(),
        }
        Ok(())
    }

    /// The confirmations that changed after a position, and the position up to which changes were read. `None`: too
    /// many to notify individually.
    async fn changed_since(&self, read: Option<u64>) -> Result<(Option<Vec<ConfirmationId>>, u64), Error> {
        let mut reader = self.reader().await?;
        let last = rows::last(&mut reader, &Scope::All, read.unwrap_or(0)).await?;
        let Some(read) = read else { return Ok((None, last)) };
        let changed = rows::changed_between((read, last), MAX_NOTIFIED).all(&mut reader).await?;
        let ids = (changed.len() < MAX_NOTIFIED as usize).then_some(changed);
        Ok((ids, last))
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

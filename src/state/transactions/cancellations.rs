//! Cancellation requests to other processes, as rows of a table. Followers of the table poll it together with the
//! watchers of the file (`follow`). Not here: cancellation of work of this process.

use std::collections::HashSet;

use tokio::{
    sync::watch,
    time::{Duration, Instant, sleep, sleep_until, timeout_at},
};
use uuid::Uuid;

use crate::{
    Store,
    calls::rows as calls,
    cancellations::{ANSWER_WITHIN, CancelRequest, RETENTION, Subject, rows},
    topic::Topic,
};
use toolwire_base::clock;
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped};
use toolwire_tool::context::{CallId, UserId};

/// Maximum interval between reads of the table, so that a lost notification only costs time.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The interval at which a lone process looks for others. It must be shorter than `ANSWER_WITHIN`.
const PEER_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Maximum number of requests per user; a new one replaces the oldest.
const MAX_REQUESTS_PER_USER: u32 = 1_000;

/// A follower of the requests of other processes.
#[derive(Debug)]
pub struct CancelRequests<'a> {
    state: &'a Store,
    /// `None` while there is no other process.
    changed: Option<watch::Receiver<u64>>,
    /// The requests that were read before; rows remain until their requesters have read the answers.
    read: HashSet<String>,
}

impl Store {
    /// Requests the other processes that share the state to cancel work of a user, waits for an answer, and returns
    /// whether one of them owns it. Returns at once if there is no other process.
    pub async fn cancel_elsewhere(&self, user: &UserId, subject: &Subject) -> Result<bool, StoreError> {
        match self.peers().await {
            0 => Ok(false),
            peers => self.request_and_wait(peers, user, subject).await,
        }
    }

    /// Requests the other processes to cancel work of a user, without waiting for an answer.
    pub async fn request_cancel(&self, user: &UserId, subject: &Subject) -> Result<(), StoreError> {
        if self.peers().await == 0 {
            return Ok(());
        }
        self.insert_request(user, subject).await?;
        Ok(())
    }

    /// Follows the requests of other processes, from the time that this process is visible to them, which is now at the
    /// latest.
    pub async fn cancel_requests(&self) -> Result<CancelRequests<'_>, StoreError> {
        // First: opening creates the state's directory, in which the lock file of this process is.
        self.ensure_open().await?;
        self.own_name().await?;
        Ok(CancelRequests { state: self, changed: None, read: HashSet::new() })
    }

    /// Answers a request: whether this process owned the work and has cancelled it.
    pub async fn answer_cancel(&self, request: &CancelRequest, done: bool) -> Result<(), StoreError> {
        self.record(Lane::User(&request.user), Durability::Process, |tx| {
            scoped(rows::answer(&request.id, done).run(tx))
        })
        .await
    }

    /// Inserts a request, and returns its identifier.
    async fn insert_request(&self, user: &UserId, subject: &Subject) -> Result<String, StoreError> {
        // Other processes read requests only while they see another process.
        self.own_name().await?;
        // A loss of power that loses the row also ends the processes that would read it.
        self.record(Lane::User(user), Durability::Process, |tx| scoped(insert(tx, user, subject))).await
    }

    /// Requests `peers` processes to cancel work, and waits until one of them has cancelled it or all have answered.
    async fn request_and_wait(
        &self,
        peers: usize,
        user: &UserId,
        subject: &Subject,
    ) -> Result<bool, StoreError> {
        let until = clock::now() + ANSWER_WITHIN;
        let mut changed = self.follow(Topic::Elsewhere).await?;
        // Read before the request: once the owner has cancelled the call, its record no longer names an owner.
        let is_carried_out = self.is_carried_out_elsewhere(user, subject).await?;
        let id = self.insert_request(user, subject).await?;
        let (mut answers, mut done) = (0, false);
        while !done && answers < peers && timeout_at(until, changed.changed()).await.is_ok() {
            let Some(row) = self.fetch_optional(rows::answers(&id)).await? else { break };
            (answers, done) = row;
        }
        if !done && answers < peers {
            // An owner, such as a stopped process, has not answered yet: the request is retained for it.
            return Ok(is_carried_out);
        }
        self.transact(Lane::User(user), Durability::Process, |tx| scoped(rows::delete(&id).run(tx))).await?;
        Ok(done)
    }

    /// Whether the recorded owner of the call is another live process.
    async fn is_carried_out_elsewhere(&self, user: &UserId, subject: &Subject) -> Result<bool, StoreError> {
        let Some(owners) = calls::owners(user, subject) else { return Ok(false) };
        for owner in self.fetch_all(owners).await? {
            if self.is_elsewhere(&owner).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl CancelRequests<'_> {
    /// Waits for requests of other processes. An error of the state counts as no requests.
    pub async fn next(&mut self) -> Vec<CancelRequest> {
        loop {
            let again = clock::now() + POLL_INTERVAL;
            if let Ok(requests) = self.read().await
                && !requests.is_empty()
            {
                return requests;
            }
            self.wait(again).await;
        }
    }

    /// Waits for a reason to read the table, at most until `until`.
    async fn wait(&mut self, until: Instant) {
        while self.state.peers().await == 0 {
            // A process that has ended may have left a request, so the table is read at `until` all the same.
            self.changed = None;
            if clock::now() >= until {
                return;
            }
            sleep(PEER_POLL_INTERVAL).await;
        }
        if self.changed.is_none() {
            self.changed = self.state.follow(Topic::Elsewhere).await.ok();
            if self.changed.is_some() {
                // Nothing notifies of a request that came before: the table is read once more.
                return;
            }
        }
        match &mut self.changed {
            Some(changed) => _ = timeout_at(until, changed.changed()).await,
            None => sleep_until(until).await,
        }
    }

    /// The requests that were not read before.
    async fn read(&mut self) -> Result<Vec<CancelRequest>, StoreError> {
        // Older requests cannot be about work of this process.
        let recent = self.state.now() - RETENTION;
        let Some(since) = self.state.seen_since().map(|seen| seen.max(recent)) else { return Ok(Vec::new()) };
        let rows = self.state.fetch_all(rows::list(&self.state.current_name().await?, since)).await?;
        let (mut present, mut requests) = (HashSet::new(), Vec::new());
        for row in rows {
            if !self.read.contains(&row.id) {
                requests.extend(row.request);
            }
            present.insert(row.id);
        }
        // Requests whose rows are gone need not be remembered.
        self.read = present;
        Ok(requests)
    }
}

/// Inserts, as a step of a transaction, requests to the owners of these calls of a user to cancel them.
pub(super) async fn request_for_calls(
    tx: &mut Tx,
    user: &UserId,
    calls: impl Iterator<Item = CallId>,
) -> Result<(), Error> {
    for call_id in calls {
        insert(tx, user, &Subject::Call(call_id)).await?;
    }
    Ok(())
}

/// Inserts a request after deleting those that expired and the user's oldest beyond the limit. Returns its identifier.
async fn insert(tx: &mut Tx, user: &UserId, subject: &Subject) -> Result<String, Error> {
    let now = tx.now();
    rows::delete_until(now - RETENTION).run(tx).await?;
    rows::delete_beyond(user, MAX_REQUESTS_PER_USER - 1).run(tx).await?;
    let (id, replica) = (Uuid::now_v7().to_string(), tx.replica().to_owned());
    rows::insert((&id, user, subject), &replica, now).run(tx).await?;
    Ok(id)
}

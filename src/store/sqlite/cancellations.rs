//! Requests to cancel work of another process, as rows of a table. Followers of the table poll it together with the
//! watchers of the file (`follow`). Not here: cancelling work of this process.

use std::{collections::HashSet, time::SystemTime};

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};
use tokio::{
    sync::watch,
    time::{Duration, Instant, sleep, sleep_until, timeout_at},
};
use uuid::Uuid;

use super::{
    Change, Durability, Failed, Sqlite,
    follow::Topic,
    time::{length, millis},
};
use crate::{
    StoreError,
    cancellations::{ANSWER_WITHIN, CancelRequest, Cancellations, KEPT, Subject},
};
use toolwire_base::clock;
use toolwire_tool::context::{CallId, UserId};

/// A follower reads the table at least this often, so that a lost notification only costs time.
const LOOK: Duration = Duration::from_secs(1);

/// While there is no other process, other processes are looked for this often. It must be shorter than `ANSWER_WITHIN`.
const ALONE: Duration = Duration::from_millis(200);

const ASK: &str = "INSERT INTO cancellations (id, user_id, subject, subject_id, replica, asked_at) VALUES (?, ?, ?, ?, ?, ?)";

const FORGET_OLD: &str = "DELETE FROM cancellations WHERE asked_at <= ?";

/// The maximum number of requests of one user; a new one replaces the oldest.
const MOST: i64 = 1_000;

const FORGET_MANY: &str = "DELETE FROM cancellations WHERE id IN (SELECT id FROM cancellations WHERE user_id = ? \
                           ORDER BY asked_at DESC, id DESC LIMIT -1 OFFSET ?)";

const FORGET: &str = "DELETE FROM cancellations WHERE id = ?";

const ASKED: &str =
    "SELECT id, user_id, subject, subject_id FROM cancellations WHERE replica <> ? AND asked_at >= ?";

const ANSWER: &str = "UPDATE cancellations SET answers = answers + 1, done = max(done, ?) WHERE id = ?";

const ANSWERS: &str = "SELECT answers, done FROM cancellations WHERE id = ?";

/// The processes that own the call, according to its records.
const OWNERS_OF_CALL: &str = "SELECT replica FROM idempotency WHERE call_id = ? AND user_id = ? AND state = 'started' \
                              AND kept IS NULL AND replica IS NOT NULL";

const OWNERS_OF_REQUEST: &str = "SELECT replica FROM idempotency WHERE request_id = ? AND user_id = ? AND state = 'started' \
                                 AND kept IS NULL AND replica IS NOT NULL";

/// A follower of the requests of other processes.
#[derive(Debug)]
pub struct CancelRequests<'a> {
    state: &'a Sqlite,
    /// `None` while there is no other process.
    changed: Option<watch::Receiver<u64>>,
    /// The requests that were read before. Rows remain until their requesters have read the answers.
    read: HashSet<String>,
}

impl Cancellations for Sqlite {
    fn cancel_elsewhere<'a>(
        &'a self,
        user: &'a UserId,
        subject: &'a Subject,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            match self.replica.peers(&self.place) {
                0 => Ok(false),
                peers => self.explain(self.cancelled_elsewhere(user, subject, peers).await),
            }
        })
    }

    fn request_cancel<'a>(
        &'a self,
        user: &'a UserId,
        subject: &'a Subject,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if self.replica.peers(&self.place) == 0 {
                return Ok(());
            }
            self.explain(self.asked_to_cancel(user, subject).await).map(|_| ())
        })
    }
}

impl Sqlite {
    /// Follows the requests of other processes from the time that they see this one, which is now at the latest.
    pub async fn cancel_requests(&self) -> Result<CancelRequests<'_>, StoreError> {
        // First: opening creates the state's directory.
        self.readers().await?;
        self.replica.id(&self.place)?;
        Ok(CancelRequests { state: self, changed: None, read: HashSet::new() })
    }

    /// Waits until other processes can see this one, which is before it owns any recorded call.
    pub async fn seen(&self) {
        self.replica.seen().await;
    }

    /// Answers a request: whether this process owned the work and has cancelled it.
    pub async fn answer_cancel(&self, request: &CancelRequest, done: bool) -> Result<(), StoreError> {
        let answered = async {
            let mut change = self.change(Durability::Process).await?;
            sqlx::query(ANSWER).bind(done).bind(&request.id).execute(&mut *change).await?;
            change.commit().await
        };
        self.explain(answered.await)
    }

    async fn asked_to_cancel(&self, user: &UserId, subject: &Subject) -> Result<String, Failed> {
        // Other processes read requests only while they see another process.
        self.replica.id(&self.place).map_err(Failed::Store)?;
        // A loss of power loses the row, and ends its readers too.
        let mut change = self.change(Durability::Process).await?;
        let id = ask(&mut change, user, subject, clock::wall()).await?;
        change.commit().await?;
        Ok(id)
    }

    async fn cancelled_elsewhere(
        &self,
        user: &UserId,
        subject: &Subject,
        peers: usize,
    ) -> Result<bool, Failed> {
        let until = clock::now() + ANSWER_WITHIN;
        let mut changed = self.follow(Topic::Elsewhere).await?;
        // Read before the request: once the owner has cancelled the call, its record no longer names an owner.
        let is_carried_out = self.is_carried_out_elsewhere(user, subject).await?;
        let id = self.asked_to_cancel(user, subject).await?;
        let (mut answers, mut done) = (0, false);
        while !done && answers < peers && timeout_at(until, changed.changed()).await.is_ok() {
            let row = sqlx::query(ANSWERS).bind(&id).fetch_optional(self.readers().await?).await?;
            let Some(row) = row else { break };
            answers = usize::try_from(row.try_get::<i64, _>("answers")?).unwrap_or_default();
            done = row.try_get("done")?;
        }
        if !done && answers < peers {
            // An owner has not answered yet, such as a stopped process: the request is kept for it.
            return Ok(is_carried_out);
        }
        let mut change = self.change(Durability::Process).await?;
        sqlx::query(FORGET).bind(&id).execute(&mut *change).await?;
        change.commit().await?;
        Ok(done)
    }

    /// Whether the recorded owner of the call is another process that is alive.
    async fn is_carried_out_elsewhere(&self, user: &UserId, subject: &Subject) -> Result<bool, Failed> {
        let owners = match subject {
            Subject::Call(_) => OWNERS_OF_CALL,
            Subject::Request(_) => OWNERS_OF_REQUEST,
            Subject::Turn(_) | Subject::Session(_) | Subject::Job(_) => return Ok(false),
        };
        let owners: Vec<String> = sqlx::query_scalar(owners)
            .bind(subject.name())
            .bind(user.as_str())
            .fetch_all(self.readers().await?)
            .await?;
        Ok(owners.iter().any(|replica| self.is_elsewhere(replica)))
    }

    /// Whether a name is that of another process that is alive.
    pub(super) fn is_elsewhere(&self, replica: &str) -> bool {
        *replica != *self.replica.name() && !self.replica.is_gone(&self.place, replica)
    }
}

impl CancelRequests<'_> {
    /// Waits for requests of other processes. While the state cannot be read there are none.
    pub async fn next(&mut self) -> Vec<CancelRequest> {
        loop {
            let again = clock::now() + LOOK;
            if let Ok(requests) = self.read().await
                && !requests.is_empty()
            {
                return requests;
            }
            self.wait(again).await;
        }
    }

    /// Waits for a reason to read the table, at most until the given time.
    async fn wait(&mut self, until: Instant) {
        while self.state.replica.peers(&self.state.place) == 0 {
            // A process that has ended may have left a request: the table is read at `until`.
            self.changed = None;
            if clock::now() >= until {
                return;
            }
            sleep(ALONE).await;
        }
        if self.changed.is_none() {
            self.changed = self.state.follow(Topic::Elsewhere).await.ok();
        }
        match &mut self.changed {
            Some(changed) => _ = timeout_at(until, changed.changed()).await,
            None => sleep_until(until).await,
        }
    }

    /// The requests that were not read before.
    async fn read(&mut self) -> Result<Vec<CancelRequest>, StoreError> {
        let replica = &self.state.replica;
        // Older requests cannot be about work of this process.
        let seen_since = replica.seen_since().map_or(i64::MAX, millis);
        let since = seen_since.max(millis(clock::wall()) - length(KEPT));
        let asked = sqlx::query(ASKED).bind(replica.name().to_string()).bind(since);
        let rows = asked.fetch_all(self.state.readers().await?).await;
        let rows = self.state.explain(rows.map_err(Failed::from))?;
        let (mut there, mut requests) = (HashSet::new(), Vec::new());
        for row in &rows {
            let (id, request) = self.state.explain(read(row).map_err(Failed::from))?;
            if !self.read.contains(&id) {
                requests.extend(request);
            }
            there.insert(id);
        }
        self.read = there;
        Ok(requests)
    }
}

/// Adds, as part of a change, requests to the owners of these calls of a user to cancel them.
pub(super) async fn ask_for_calls(
    change: &mut Change,
    user: &UserId,
    calls: impl Iterator<Item = CallId>,
    now: SystemTime,
) -> Result<(), Failed> {
    for call_id in calls {
        ask(change, user, &Subject::Call(call_id), now).await?;
    }
    Ok(())
}

async fn ask(
    change: &mut Change,
    user: &UserId,
    subject: &Subject,
    now: SystemTime,
) -> Result<String, Failed> {
    let (now, id) = (millis(now), Uuid::now_v7().to_string());
    sqlx::query(FORGET_OLD).bind(now - length(KEPT)).execute(&mut **change).await?;
    sqlx::query(FORGET_MANY).bind(user.as_str()).bind(MOST - 1).execute(&mut **change).await?;
    let replica = change.replica().to_owned();
    sqlx::query(ASK)
        .bind(&id)
        .bind(user.as_str())
        .bind(subject.into_str())
        .bind(subject.name())
        .bind(replica)
        .bind(now)
        .execute(&mut **change)
        .await?;
    Ok(id)
}

/// The identifier of a request, and the request; `None` if only a newer program understands it.
fn read(row: &SqliteRow) -> Result<(String, Option<CancelRequest>), sqlx::Error> {
    let (id, user): (String, String) = (row.try_get("id")?, row.try_get("user_id")?);
    let subject = Subject::parse(row.try_get("subject")?, row.try_get("subject_id")?);
    let request = user.parse().ok().zip(subject);
    let request = request.map(|(user, subject)| CancelRequest { id: id.clone(), user, subject });
    Ok((id, request))
}

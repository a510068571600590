//! The feeds of all users.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::OnceCell;
use tonic::{Code, Status};
use tonic_types::ErrorDetails;

use super::feed::{Feed, Key, Reader};
use crate::faces::grpc::Routes;
use toolwire_contract::status;
use toolwire_tool::context::UserId;

/// Maximum number of feeds of one user: each costs what the watches of a stream cost.
const MAX_FEEDS: usize = 16;

/// After which time a refused stream may be tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The feeds by their user. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(super) struct Feeds(Arc<Mutex<HashMap<UserId, Vec<Arc<Entry>>>>>);

#[derive(Debug)]
struct Entry {
    key: Key,
    /// Opened by the first stream, for which the others wait.
    feed: OnceCell<Arc<Feed>>,
}

impl Feeds {
    /// Begins a stream over the feed of a key, after the event of an id.
    pub(super) async fn subscribe(
        &self,
        routes: Routes,
        key: Key,
        last: Option<&str>,
    ) -> Result<Reader, Status> {
        loop {
            let entry = self.entry(&key)?;
            let open = async || Feed::open(routes.clone(), key.clone()).await.map(Arc::new);
            // A feed may end before the stream has joined it.
            if let Some(reader) = entry.feed.get_or_try_init(open).await?.subscribe(last).await? {
                return Ok(reader);
            }
        }
    }

    fn entry(&self, key: &Key) -> Result<Arc<Entry>, Status> {
        let mut users = self.lock();
        let known = users.get(&key.user.id).into_iter().flatten();
        if let Some(entry) = known.filter(|entry| !entry.is_over()).find(|entry| entry.key == *key) {
            return Ok(Arc::clone(entry));
        }
        users.retain(|_, entries| {
            entries.retain(Entry::is_needed);
            !entries.is_empty()
        });
        let entries = users.entry(key.user.id.clone()).or_default();
        if entries.len() >= MAX_FEEDS {
            let unused =
                entries.iter().position(|entry| entry.is_unused()).ok_or_else(|| too_many(&key.user.id))?;
            entries.remove(unused);
        }
        let entry = Arc::new(Entry { key: key.clone(), feed: OnceCell::new() });
        entries.push(Arc::clone(&entry));
        Ok(entry)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<UserId, Vec<Arc<Entry>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    fn is_over(&self) -> bool {
        self.feed.get().is_some_and(|feed| feed.is_over())
    }

    fn is_unused(&self) -> bool {
        self.feed.get().is_some_and(|feed| feed.is_unused())
    }

    /// Whether the entry has a feed that is not over, or a stream that opens it.
    fn is_needed(self: &Arc<Self>) -> bool {
        if self.feed.initialized() { !self.is_over() } else { Arc::strong_count(self) > 1 }
    }
}

fn too_many(user: &UserId) -> Status {
    let description = format!("at most {MAX_FEEDS} kinds of event streams at once");
    let message = format!(
        "your share of this server is used up: {description}, which differ in topics, user_id or credentials; let some \
         end first, or open another one with the same topics and user_id"
    );
    let mut details = ErrorDetails::with_quota_failure_violation(user.to_string(), description);
    details.set_retry_info(Some(RETRY_AFTER));
    status::status(Code::ResourceExhausted, "SHARE_EXHAUSTED", &message, details)
}

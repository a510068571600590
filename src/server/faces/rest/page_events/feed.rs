//! A feed: the watches that the streams of one user have in common, read once, and their events, encoded once.
//!
//! A stream begins with the state, which those that begin at about the same time share too, and then reads the feed's
//! log at its own pace. One that is not read waits for its connection, and costs nothing until then.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{
    Stream, StreamExt,
    stream::{self, SelectAll, select_all},
};
use tokio::{sync::watch, time::Instant};
use tokio_util::task::AbortOnDropHandle;
use tonic::Status;

use super::{
    fan_out::{Shared, fan_out},
    log::Found,
    source::{Source, Watched},
    text::{error_event, name, reset, write},
    topic::Topic,
    watches,
};
use crate::faces::{grpc::Routes, http::chunks::PIECE};
use toolwire_base::{clock, offload};
use toolwire_engine::pipeline::Policy;
use toolwire_tool::context::{RequestId, User};

/// How old the state may be with which a stream begins. What has changed since follows it.
const FRESH: Duration = Duration::from_secs(1);

/// What streams have in common that share a feed.
#[derive(Clone, Debug)]
pub(super) struct Key {
    pub(super) user: User,
    topics: Vec<Topic>,
    /// The `user_id` of the calls and statistics.
    whose: String,
    /// The policy when the stream began; `None` if it never changes. What a user may see is decided when a watch is
    /// opened, so that a stream under later rules must not join it.
    policy: Option<Arc<dyn Policy>>,
}

impl Key {
    pub(super) fn new(
        mut user: User,
        topics: Vec<Topic>,
        whose: String,
        policy: Option<Arc<dyn Policy>>,
    ) -> Self {
        // Tokens of a user differ by when they end, which ends the streams and not the feed.
        if let Some(grant) = &mut user.grant {
            Arc::make_mut(grant).ends_at = None;
        }
        Self { user, topics, whose, policy }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        let is_same_policy = match (&self.policy, &other.policy) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        is_same_policy && self.user == other.user && self.topics == other.topics && self.whose == other.whose
    }
}

#[derive(Debug)]
pub(super) struct Feed {
    /// Part of the ids of its events, and of no other feed's.
    id: String,
    source: Arc<Source>,
    topics: Vec<Topic>,
    shared: Arc<Shared>,
    /// The latest one. Locked while another is made, so that streams that begin meanwhile get that one.
    beginning: tokio::sync::Mutex<Beginning>,
    _task: AbortOnDropHandle<()>,
}

/// The state of all topics as events.
#[derive(Clone, Debug)]
struct Beginning {
    text: Bytes,
    /// The number of the first event of the log that may not be part of the state.
    next: u64,
    made: Instant,
}

/// The position of a stream in a feed.
#[derive(Debug)]
pub(super) struct Reader {
    feed: Arc<Feed>,
    changed: watch::Receiver<()>,
    /// What comes before the events of the log.
    pending: VecDeque<Bytes>,
    /// The number of the next event.
    next: u64,
}

impl Feed {
    /// Opens the watches, and reads their state.
    pub(super) async fn open(routes: Routes, key: Key) -> Result<Self, Status> {
        let Key { user, topics, whose, .. } = key;
        let (id, name) = (RequestId::generate().to_string(), user.id.shared());
        let source = Arc::new(Source { routes, user, whose });
        let (watches, text) = read_state(&source, &topics, &id, 0).await?;
        let shared = Arc::<Shared>::default();
        let task = fan_out(Arc::clone(&shared), id.clone(), watches);
        Ok(Self {
            id,
            source,
            topics,
            shared,
            beginning: Beginning { text, next: 0, made: clock::now() }.into(),
            _task: AbortOnDropHandle::new(tokio::spawn(offload::on_behalf(name, task))),
        })
    }

    /// Begins a stream: after the last event that its reader has, if it is still kept, or else with the state. `None`
    /// once the feed is over.
    pub(super) async fn subscribe(self: &Arc<Self>, last: Option<&str>) -> Result<Option<Reader>, Status> {
        let Some(changed) = self.shared.join() else { return Ok(None) };
        let mut reader = Reader { feed: Arc::clone(self), changed, pending: VecDeque::new(), next: 0 };
        match last.and_then(|id| self.position(id)) {
            Some(next) => reader.next = next,
            None => reader.begin(last.is_some()).await?,
        }
        Ok(Some(reader))
    }

    /// Whether no event will follow.
    pub(super) fn is_over(&self) -> bool {
        self.shared.lock().is_over()
    }

    /// Whether no stream reads it now.
    pub(super) fn is_unused(&self) -> bool {
        self.shared.changed.receiver_count() == 0
    }

    /// The number of the event that follows the one of an id.
    fn position(&self, id: &str) -> Option<u64> {
        let number = id.strip_prefix(&self.id)?.strip_prefix('.')?.parse().ok()?;
        (self.shared.lock().read(number) != Found::Lost).then_some(number)
    }

    async fn beginning(&self) -> Result<Beginning, Status> {
        let mut latest = self.beginning.lock().await;
        let is_kept = self.shared.lock().read(latest.next) != Found::Lost;
        if !is_kept || clock::now() >= latest.made + FRESH {
            // Before the state is read: a change meanwhile may come twice, and is never left out.
            let next = self.shared.lock().next();
            let (_, text) = read_state(&self.source, &self.topics, &self.id, next).await?;
            *latest = Beginning { text, next, made: clock::now() };
        }
        Ok(latest.clone())
    }
}

impl Reader {
    /// Continues with the state, behind an event that says so if the reader may know another one.
    async fn begin(&mut self, is_reset: bool) -> Result<(), Status> {
        let Beginning { text, next, .. } = self.feed.beginning().await?;
        let reset = is_reset.then(|| {
            let (mut text, (name, data)) = (String::new(), reset(&self.feed.topics));
            write(&mut text, &self.feed.id, &name, &data);
            text.into()
        });
        self.pending = reset.into_iter().chain([text]).collect();
        self.next = next;
        Ok(())
    }

    /// The events as text, in pieces of any size.
    pub(super) fn into_stream(self) -> impl Stream<Item = Bytes> + Send + 'static {
        stream::unfold(Some(self), async |reader| {
            let mut reader = reader?;
            match reader.next().await {
                Ok(piece) => Some((piece?, Some(reader))),
                Err(status) => Some((error_event(status).into(), None)),
            }
        })
    }

    /// The next piece; `None` after the last.
    async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            while let Some(first) = self.pending.front_mut() {
                if !first.is_empty() {
                    return Ok(Some(first.split_to(first.len().min(PIECE))));
                }
                self.pending.pop_front();
            }
            // Before the log is read: a change from here on wakes the stream.
            self.changed.mark_unchanged();
            let found = self.feed.shared.lock().read(self.next);
            match found {
                Found::Events(text, next) => {
                    self.next = next;
                    return Ok(Some(text));
                }
                Found::Lost => self.begin(true).await?,
                Found::End => return Ok(None),
                Found::Nothing => {
                    let _ = self.changed.changed().await;
                }
            }
        }
    }
}

/// Opens the watches, and reads the state with which each of them begins. The last event has the id after which a
/// stream goes on with the event of the number `next`; one that is lost before has nothing to go on from.
async fn read_state(
    source: &Arc<Source>,
    topics: &[Topic],
    id: &str,
    next: u64,
) -> Result<(SelectAll<Watched>, Bytes), Status> {
    // All of them are polled at once, and from here on: one that is not may hold a connection to the state, for which
    // the others wait.
    let mut events = select_all(topics.iter().map(|topic| watches::events(source, *topic)));
    let (mut missing, mut text, mut last) = (topics.to_vec(), String::new(), 0);
    while !missing.is_empty()
        && let Some((topic, event)) = events.next().await
    {
        let Some((name, data)) = name(topic, &event?) else { continue };
        last = text.len();
        write(&mut text, id, &name, &data);
        // Statistics are one event.
        if name.ends_with(".synced") || topic == Topic::Stats {
            missing.retain(|it| *it != topic);
        }
    }
    if !text.is_empty() {
        text.insert_str(last + "id: ".len() + id.len(), &format!(".{next}"));
    }
    Ok((events, text.into()))
}

#[cfg(test)]
mod tests;

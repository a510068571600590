//! What the calls of one server and its supervisor share: the connection, when there is one, and how many calls are
//! under way.

use std::sync::Arc;

use tokio::{
    select,
    sync::{Notify, watch},
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{
    bounds::{MAX_CALLS, MAX_CALLS_OF_USER, RETRY, SETTLED},
    connection::Connection,
};
use toolwire_base::fair_semaphore::{FairSemaphore, Permit};
use toolwire_providers::ids::ProviderName;
use toolwire_tool::context::UserId;

/// Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub struct Link(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    provider: ProviderName,
    connection: watch::Sender<Option<Connection>>,
    permits: FairSemaphore<UserId>,
    /// A call ended as if the connection were lost.
    doubt: Notify,
    /// How often the supervisor has looked at the connection.
    looks: watch::Sender<u64>,
    /// What is accepted may have changed.
    reconsider: Notify,
}

impl Link {
    pub fn new(provider: ProviderName) -> Self {
        Self(Arc::new(Inner {
            provider,
            connection: watch::Sender::new(None),
            permits: FairSemaphore::new(MAX_CALLS, MAX_CALLS_OF_USER),
            doubt: Notify::new(),
            looks: watch::Sender::default(),
            reconsider: Notify::new(),
        }))
    }

    pub fn provider(&self) -> &ProviderName {
        &self.0.provider
    }

    /// Requests that the last list is registered again.
    pub fn reconsider(&self) {
        self.0.reconsider.notify_one();
    }

    pub(crate) async fn wait_for_reconsideration(&self) {
        self.0.reconsider.notified().await;
    }

    pub(crate) fn doubt(&self) {
        self.0.doubt.notify_one();
    }

    pub(crate) async fn wait_for_doubt(&self) {
        self.0.doubt.notified().await;
    }

    pub(crate) fn set(&self, connection: Option<Connection>) {
        self.0.connection.send_replace(connection);
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Option<Connection>> {
        self.0.connection.subscribe()
    }

    /// The connection, once there is one that is not closed. `None` if there is none in time.
    pub(crate) async fn connection(&self, until: Instant) -> Option<Connection> {
        let mut watch = self.watch();
        let is_open =
            |it: &Option<Connection>| it.as_ref().is_some_and(|it| !it.shared.closed.is_cancelled());
        let found = timeout_at(until, watch.wait_for(is_open)).await;
        found.ok().and_then(Result::ok).and_then(|it| it.clone())
    }

    /// `None` if none is free for the user in time.
    pub(crate) async fn permit(&self, user: &UserId, until: Instant) -> Option<Permit<UserId>> {
        timeout_at(until, self.0.permits.acquire(Some(user))).await.ok()
    }

    /// Notes that the supervisor has found out whether the connection serves.
    pub(crate) fn note_look(&self) {
        self.0.looks.send_modify(|looks| *looks = looks.wrapping_add(1));
    }

    /// Waits, for a bounded time, until it is known whether the connection serves, or there is another one.
    pub(crate) async fn recover(&self) {
        let (mut looks, mut connections) = (self.0.looks.subscribe(), self.watch());
        self.doubt();
        sleep(RETRY).await;
        let _ = timeout(SETTLED, async {
            select! {
                _ = looks.changed() => {}
                _ = connections.changed() => {}
            }
        })
        .await;
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.0.permits.available_permits() < MAX_CALLS
    }
}

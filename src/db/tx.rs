//! Write transactions of either database.

use std::{
    fmt, mem,
    ops::{Deref, DerefMut},
    sync::Arc,
    time::SystemTime,
};

use crate::{
    Error, followers::Topic, postgres::LaneTransaction, sql::Connection, sqlite::group_commit::Member,
};

/// A write transaction. It takes effect when committed, and is rolled back if dropped.
#[derive(Debug)]
pub struct Tx {
    inner: Inner,
    /// The name of the replica that writes.
    replica: Arc<str>,
    now: SystemTime,
    topics: Vec<Topic>,
    effects: Effects,
}

/// What is done once a transaction is committed.
#[derive(Default)]
struct Effects(Vec<Effect>);

type Effect = Box<dyn FnOnce() + Send + Sync>;

#[derive(Debug)]
pub(crate) enum Inner {
    Member(Member),
    Lane(LaneTransaction),
}

impl Tx {
    pub(crate) fn new(inner: Inner, replica: Arc<str>, now: SystemTime) -> Self {
        Self { inner, replica, now, topics: Vec::new(), effects: Effects::default() }
    }

    /// The time by the clock of the state. What ends or expires counts from it.
    pub fn now(&self) -> SystemTime {
        self.now
    }

    /// The name of the replica that writes.
    pub fn replica(&self) -> &str {
        &self.replica
    }

    /// Notifies the followers of a topic once it is committed.
    pub fn notify(&mut self, topic: impl Into<Topic>) {
        let topic = topic.into();
        if !self.topics.contains(&topic) {
            self.topics.push(topic);
        }
    }

    /// The topics to notify after the commit.
    pub(crate) fn take_topics(&mut self) -> impl Iterator<Item = Topic> + use<> {
        mem::take(&mut self.topics).into_iter()
    }

    /// Does something once it is committed, and nothing if it never is. It must not wait.
    pub fn after_commit(&mut self, effect: impl FnOnce() + Send + Sync + 'static) {
        self.effects.0.push(Box::new(effect));
    }

    /// What to do after the commit.
    pub(crate) fn take_effects(&mut self) -> impl Iterator<Item = Effect> + use<> {
        mem::take(&mut self.effects.0).into_iter()
    }

    /// Reports written bytes, where they may be many, so that a shared commit stays bounded.
    pub fn adds(&mut self, bytes: usize) {
        match &mut self.inner {
            Inner::Member(member) => member.adds(bytes),
            // Its commit is its own.
            Inner::Lane(_) => {}
        }
    }

    /// Commits, perhaps with others, and returns once the commit is stored.
    pub async fn commit(self) -> Result<(), Error> {
        match self.inner {
            Inner::Member(member) => member.commit().await,
            Inner::Lane(transaction) => Box::pin(transaction.commit()).await,
        }
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Effects").field(&self.0.len()).finish()
    }
}

impl Deref for Tx {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match &self.inner {
            Inner::Member(member) => member,
            Inner::Lane(lane) => &lane.transaction,
        }
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut Connection {
        match &mut self.inner {
            Inner::Member(member) => member,
            Inner::Lane(lane) => &mut lane.transaction,
        }
    }
}

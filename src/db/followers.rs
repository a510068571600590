//! Followers of commits: of those of this process, which notifies them itself, and of those of other processes, of
//! which the database tells.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use tokio::sync::watch;

/// The most topics of a database.
const TOPICS: usize = 8;

/// The kind of rows that a follower reads when it is notified, by a number that the owner of the rows gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic(usize);

impl Topic {
    /// Panics from the ninth on, which is a mistake of a program.
    pub const fn numbered(number: usize) -> Self {
        assert!(number < TOPICS, "a database has eight topics");
        Self(number)
    }
}

/// The followers, by topic. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    topics: [watch::Sender<u64>; TOPICS],
    /// Whether commits of other processes are polled for: one poll serves all followers.
    is_polling: AtomicBool,
}

impl Followers {
    pub(crate) fn add(&self, topic: Topic) -> watch::Receiver<u64> {
        self.0.topics[topic.0].subscribe()
    }

    /// Notifies followers of a commit of this process.
    pub(crate) fn notify(&self, topic: Topic) {
        increment(&self.0.topics[topic.0]);
    }

    /// Notifies followers of a commit that may be of any topic.
    pub(crate) fn notify_all(&self) {
        self.0.topics.iter().for_each(increment);
    }

    pub(crate) fn is_any(&self) -> bool {
        self.count() > 0
    }

    pub(crate) fn count(&self) -> usize {
        self.0.topics.iter().map(watch::Sender::receiver_count).sum()
    }

    /// Begins to poll; `false` if a poll is running.
    pub(crate) fn begin_poll(&self) -> bool {
        !self.0.is_polling.swap(true, SeqCst)
    }

    pub(crate) fn end_poll(&self) {
        self.0.is_polling.store(false, SeqCst);
    }
}

fn increment(sender: &watch::Sender<u64>) {
    sender.send_modify(|commits| *commits = commits.wrapping_add(1));
}

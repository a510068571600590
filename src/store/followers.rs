//! Followers of commits: of those of this process, which notifies them itself, and of those of other processes, of
//! which the database tells.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use tokio::sync::watch;

/// The kind of rows that a follower reads when it is notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Tasks,
    Jobs,
    Confirmations,
    AcceptedTools,
    /// Records of calls of other processes, and their cancellation requests. Never notified by commits of this process.
    Elsewhere,
}

/// The followers, by topic. Cheap to clone; clones share state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    tasks: watch::Sender<u64>,
    jobs: watch::Sender<u64>,
    confirmations: watch::Sender<u64>,
    accepted_tools: watch::Sender<u64>,
    elsewhere: watch::Sender<u64>,
    /// Whether commits of other processes are polled for: one poll serves all followers.
    is_polling: AtomicBool,
}

impl Followers {
    pub(crate) fn add(&self, topic: Topic) -> watch::Receiver<u64> {
        self.0.sender(topic).subscribe()
    }

    /// Notifies followers of a commit of this process.
    pub(crate) fn notify(&self, topic: Topic) {
        increment(self.0.sender(topic));
    }

    /// Notifies followers of a commit that may be of any topic.
    pub(crate) fn notify_all(&self) {
        self.0.all().into_iter().for_each(increment);
    }

    pub(crate) fn is_any(&self) -> bool {
        self.count() > 0
    }

    pub(crate) fn count(&self) -> usize {
        self.0.all().iter().map(|sender| sender.receiver_count()).sum()
    }

    /// Begins to poll; `false` if a poll is running.
    pub(crate) fn begin_poll(&self) -> bool {
        !self.0.is_polling.swap(true, SeqCst)
    }

    pub(crate) fn end_poll(&self) {
        self.0.is_polling.store(false, SeqCst);
    }
}

impl Inner {
    const fn sender(&self, topic: Topic) -> &watch::Sender<u64> {
        match topic {
            Topic::Tasks => &self.tasks,
            Topic::Jobs => &self.jobs,
            Topic::Confirmations => &self.confirmations,
            Topic::AcceptedTools => &self.accepted_tools,
            Topic::Elsewhere => &self.elsewhere,
        }
    }

    fn all(&self) -> [&watch::Sender<u64>; 5] {
        [&self.tasks, &self.jobs, &self.confirmations, &self.accepted_tools, &self.elsewhere]
    }
}

fn increment(sender: &watch::Sender<u64>) {
    sender.send_modify(|commits| *commits = commits.wrapping_add(1));
}

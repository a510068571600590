//! The messages that wait to be written, and those that are being written for all who wait.

use std::{
    collections::VecDeque,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use tokio::sync::{Mutex as Turn, oneshot};

use super::fault::Fault;
use crate::{
    context::{TaskId, UserId},
    store::tasks::{Mutation, NewMessage},
};

/// So many are written in one change at most.
const AT_ONCE: usize = 256;

/// The messages that wait to be written.
#[derive(Debug, Default)]
pub(in crate::store::sqlite) struct Messages {
    waiting: Mutex<VecDeque<Waiting>>,
    /// Whoever has it writes.
    pub(super) turn: Turn<()>,
}

/// A message, and whoever waits for its place.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) user: UserId,
    pub(super) task: TaskId,
    pub(super) new: NewMessage,
    pub(super) mutation: Mutation,
    pub(super) now: SystemTime,
    pub(super) answer: oneshot::Sender<Result<u64, Fault>>,
}

/// Messages that are being written. Those that have no answer when it is dropped wait again: were they written all the
/// same, they have the same answer.
pub(super) struct Batch<'a> {
    of: &'a Messages,
    pub(super) all: Vec<Waiting>,
}

impl Messages {
    /// One more.
    pub(super) fn add(&self, message: Waiting) {
        self.lock().push_back(message);
    }

    /// Some of those that wait, to be written.
    pub(super) fn take(&self) -> Batch<'_> {
        let mut waiting = self.lock();
        // Whoever has left has no message to write.
        waiting.retain(|message| !message.answer.is_closed());
        let some = waiting.len().min(AT_ONCE);
        Batch { of: self, all: waiting.drain(..some).collect() }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batch<'_> {
    /// Answers all of it.
    pub(super) fn answer(&mut self, answers: Vec<Result<u64, Fault>>) {
        for (message, answer) in mem::take(&mut self.all).into_iter().zip(answers) {
            // Whoever has left is not told.
            let _ = message.answer.send(answer);
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let mut waiting = self.of.lock();
        for message in mem::take(&mut self.all).into_iter().rev() {
            waiting.push_front(message);
        }
    }
}

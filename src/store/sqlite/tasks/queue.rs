//! The messages that wait to be written, and those that are being written for all who wait.

use std::{
    collections::VecDeque,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use tokio::sync::{Mutex as Turn, oneshot};

use super::fault::Fault;
use crate::tasks::{Mutation, NewMessage};
use toolwire_tool::context::{TaskId, UserId};

/// So many are written in one change at most.
const AT_ONCE: usize = 256;

/// Nor more bytes, unless one message alone has more: nobody else can write meanwhile.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// The messages that wait to be written.
#[derive(Debug, Default)]
pub(in crate::sqlite) struct Messages {
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
    /// How long its text is.
    pub(super) tokens: u64,
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

impl Waiting {
    fn bytes(&self) -> usize {
        self.new.text.len() + self.new.opaque.as_ref().map_or(0, |opaque| opaque.data.len())
    }
}

impl Messages {
    pub(super) fn add(&self, message: Waiting) {
        self.lock().push_back(message);
    }

    /// Some of those that wait, to be written.
    pub(super) fn take(&self) -> Batch<'_> {
        let mut waiting = self.lock();
        // Whoever has left has no message to write.
        waiting.retain(|message| !message.answer.is_closed());
        let mut bytes = 0;
        let fits = |message: &&Waiting| {
            let is_first = bytes == 0;
            bytes += message.bytes();
            is_first || bytes <= MOST_BYTES
        };
        let some = waiting.iter().take(AT_ONCE).take_while(fits).count();
        Batch { of: self, all: waiting.drain(..some).collect() }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batch<'_> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{Turn, entry::Speaker};
    use toolwire_base::digest::Digest;
    use toolwire_tool::context::RequestId;

    /// How many are written at once of so many messages of so many bytes.
    fn taken(count: usize, bytes: usize) -> usize {
        let messages = Messages::default();
        let mut callers = Vec::new();
        for _ in 0..count {
            let (answer, caller) = oneshot::channel();
            callers.push(caller);
            let digest = Digest::of_bytes(b"x");
            messages.add(Waiting {
                user: "riley".parse().unwrap(),
                task: TaskId::generate(),
                new: NewMessage {
                    speaker: Speaker::User,
                    text: "x".repeat(bytes),
                    opaque: None,
                    turn: Turn::default(),
                },
                tokens: 0,
                mutation: Mutation { method: "AppendMessage", request_id: RequestId::generate(), digest },
                now: toolwire_base::clock::wall(),
                answer,
            });
        }
        messages.take().all.len()
    }

    #[test]
    fn so_many_messages_and_bytes_are_written_at_once_and_a_larger_one_alone() {
        assert_eq!(taken(300, 10), AT_ONCE);
        assert_eq!(taken(300, 256 * 1024), 16);
        assert_eq!(taken(3, MOST_BYTES + 1), 1);
    }
}

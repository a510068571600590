//! The queue of messages to be written, and the batch in progress.

use std::{
    collections::VecDeque,
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{Mutex as WriterLock, oneshot};

use super::error::TxError;
use crate::tasks::{Mutation, NewMessage};
use toolwire_db::StoreError;
use toolwire_tool::context::{TaskId, UserId};

/// Maximum number of messages in one transaction.
const MAX_BATCH_MESSAGES: usize = 256;

/// Maximum bytes in one transaction, unless a single message exceeds them: other transactions wait meanwhile.
const MAX_BATCH_BYTES: usize = 4 * 1024 * 1024;

/// The sequence number of a message, or why it was not appended.
pub(super) type Answer = Result<u64, TxError<StoreError>>;

#[derive(Debug, Default)]
pub(crate) struct Messages {
    queue: Mutex<VecDeque<QueuedMessage>>,
    /// Held by the caller that writes the queue.
    pub(super) writer: WriterLock<()>,
}

/// A message, and the sender of its answer.
#[derive(Debug)]
pub(super) struct QueuedMessage {
    pub(super) user: UserId,
    pub(super) task: TaskId,
    pub(super) message: NewMessage,
    /// Token count of its text.
    pub(super) tokens: u64,
    pub(super) mutation: Mutation,
    pub(super) answer: oneshot::Sender<Answer>,
}

/// Messages in progress. When it is dropped, messages without an answer are queued again; if they were written after
/// all, they then receive the same answer.
pub(super) struct Batch<'a> {
    of: &'a Messages,
    messages: Vec<QueuedMessage>,
}

impl QueuedMessage {
    fn bytes(&self) -> usize {
        self.message.text.len() + self.message.opaque.as_ref().map_or(0, |opaque| opaque.data.len())
    }
}

impl Messages {
    pub(super) fn add(&self, message: QueuedMessage) {
        self.lock().push_back(message);
    }

    /// An empty batch.
    pub(super) fn batch(&self) -> Batch<'_> {
        Batch { of: self, messages: Vec::new() }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<QueuedMessage>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Batch<'_> {
    pub(super) fn messages(&self) -> &[QueuedMessage] {
        &self.messages
    }

    /// Adds queued messages up to the limits of a batch.
    pub(super) fn fill(&mut self) {
        let mut queue = self.of.lock();
        // The message of a caller that has left is not written.
        queue.retain(|message| !message.answer.is_closed());
        let mut bytes: usize = self.messages.iter().map(QueuedMessage::bytes).sum();
        let mut is_empty = self.messages.is_empty();
        let fits = |message: &&QueuedMessage| {
            bytes += message.bytes();
            mem::take(&mut is_empty) || bytes <= MAX_BATCH_BYTES
        };
        let free = MAX_BATCH_MESSAGES - self.messages.len();
        let count = queue.iter().take(free).take_while(fits).count();
        self.messages.extend(queue.drain(..count));
    }

    /// Answers its messages, in order.
    pub(super) fn answer(&mut self, answers: Vec<Answer>) {
        for (message, answer) in mem::take(&mut self.messages).into_iter().zip(answers) {
            // Fails if the caller has left.
            let _ = message.answer.send(answer);
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // At the front and in reverse, so that the queue keeps its order.
        let mut queue = self.of.lock();
        for message in mem::take(&mut self.messages).into_iter().rev() {
            queue.push_front(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::{StepRef, entry::Speaker};
    use toolwire_base::digest::Digest;
    use toolwire_tool::context::RequestId;

    /// The number of messages that are written at once, of a number of a size in bytes.
    fn batched(count: usize, bytes: usize) -> usize {
        let messages = Messages::default();
        let mut callers = Vec::new();
        for _ in 0..count {
            let (answer, caller) = oneshot::channel();
            callers.push(caller);
            let digest = Digest::of_bytes(b"x");
            messages.add(QueuedMessage {
                user: "riley".parse().unwrap(),
                task: TaskId::generate(),
                message: NewMessage {
                    speaker: Speaker::User,
                    text: "x".repeat(bytes),
                    opaque: None,
                    step_ref: StepRef::default(),
                },
                tokens: 0,
                mutation: Mutation { method: "AppendMessage", request_id: RequestId::generate(), digest },
                answer,
            });
        }
        let mut batch = messages.batch();
        batch.fill();
        batch.messages().len()
    }

    #[test]
    fn a_batch_is_bounded_in_messages_and_bytes_and_has_a_larger_message_alone() {
        assert_eq!(batched(300, 10), MAX_BATCH_MESSAGES);
        assert_eq!(batched(300, 256 * 1024), 16);
        assert_eq!(batched(3, MAX_BATCH_BYTES + 1), 1);
    }
}

//! Messages for a host that its stream has not taken yet, counted in its backlog.

use std::collections::VecDeque;

use prost::Message as _;

use crate::wire::{WorkResponse, work_response::Message};
use toolwire_base::backlog::{Permit, Stream};
use toolwire_tool::context::CallId;

/// Above this many the host is not read: what it sends might make more.
const MAX_QUEUED: usize = 8;

#[derive(Debug)]
pub(super) struct Outgoing {
    queue: VecDeque<(Message, Option<Permit>)>,
    backlog: Option<Stream>,
}

impl Outgoing {
    pub(super) fn new(backlog: Option<Stream>) -> Self {
        Self { queue: VecDeque::new(), backlog }
    }

    /// Without a permit the stream ends, and what was not sent is taken back.
    pub(super) fn push(&mut self, message: Message) {
        let permit = match (&self.backlog, &message) {
            // The others have a few bytes.
            (Some(backlog), Message::Start(start)) => backlog.acquire(start.encoded_len()).ok(),
            _ => None,
        };
        self.queue.push_back((message, permit));
    }

    pub(super) fn pop(&mut self) -> Option<WorkResponse> {
        let (message, permit) = self.queue.pop_front()?;
        if let Some(permit) = permit {
            permit.pass_on();
        }
        Some(WorkResponse { message: Some(message) })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn has_capacity(&self) -> bool {
        self.queue.len() < MAX_QUEUED
    }

    /// Whether a call stands here that was not sent.
    pub(super) fn holds(&self, call: CallId) -> bool {
        let id = call.to_string();
        self.queue.iter().any(|(message, _)| matches!(message, Message::Start(it) if it.call_id == id))
    }
}

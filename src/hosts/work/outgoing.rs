//! Messages for a host that its stream has not taken yet.

use std::collections::VecDeque;

use crate::wire::{WorkResponse, work_response::Message};
use toolwire_tool::context::CallId;

/// Above this many the host is not read: what it sends might make more.
const MAX_QUEUED: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Outgoing(VecDeque<Message>);

impl Outgoing {
    pub(super) fn push(&mut self, message: Message) {
        self.0.push_back(message);
    }

    pub(super) fn pop(&mut self) -> Option<WorkResponse> {
        self.0.pop_front().map(|message| WorkResponse { message: Some(message) })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn has_capacity(&self) -> bool {
        self.0.len() < MAX_QUEUED
    }

    /// Whether a call stands here that was not sent.
    pub(super) fn holds(&self, call: CallId) -> bool {
        let id = call.to_string();
        self.0.iter().any(|message| matches!(message, Message::Start(it) if it.call_id == id))
    }
}

//! A call that runs: its events, and Ctrl-C, which asks its server to cancel it.

use futures_util::StreamExt;
use tokio::select;
use tonic::Status;

use crate::{
    backend::{Backend, Events},
    signals::Interrupts,
};
use toolwire_contract::proto::v1::{self, CancelCallRequest, call_event::Event, cancel_call_request::Call};
use toolwire_server::console::Failure;

/// The events of a call. Dropping it cancels the call, but for a write that has begun.
pub(super) struct RunningCall<'a> {
    events: Events,
    /// Where it can be cancelled.
    backend: Option<&'a Backend>,
    interrupts: &'a mut Interrupts,
    /// Empty until the first event.
    call_id: String,
    /// The confirmation that it waits for.
    awaited: Option<Box<v1::ConfirmationRequired>>,
    is_interrupted: bool,
}

/// What comes next of a call.
#[derive(Debug)]
pub(super) enum Next {
    Event(Box<v1::CallEvent>),
    /// Ctrl-C: the server was asked to cancel it, and its end follows.
    Cancelling,
    /// Ctrl-C again, or where there is nothing to cancel: no end follows.
    Left,
    Status(Status),
    /// The stream ended.
    End,
}

impl<'a> RunningCall<'a> {
    pub(super) fn new(events: Events, backend: Option<&'a Backend>, interrupts: &'a mut Interrupts) -> Self {
        Self { events, backend, interrupts, call_id: String::new(), awaited: None, is_interrupted: false }
    }

    pub(super) fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Whether Ctrl-C came.
    pub(super) fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// The confirmation that it was waiting for.
    pub(super) fn take_awaited(&mut self) -> Option<Box<v1::ConfirmationRequired>> {
        self.awaited.take()
    }

    pub(super) async fn next(&mut self) -> Next {
        select! {
            event = self.events.next() => match event {
                Some(Ok(event)) => {
                    self.call_id.clone_from(&event.call_id);
                    self.awaited = match &event.event {
                        Some(Event::AwaitingConfirmation(it)) => Some(Box::new(it.clone())),
                        _ => None,
                    };
                    Next::Event(Box::new(event))
                }
                Some(Err(status)) => Next::Status(status),
                None => Next::End,
            },
            () = self.interrupts.next() => {
                let is_second = std::mem::replace(&mut self.is_interrupted, true);
                // A cancellation would withdraw the confirmation, on which a person may still decide.
                let is_left = is_second || self.awaited.is_some() || !self.cancel().await;
                if is_left { Next::Left } else { Next::Cancelling }
            }
        }
    }

    /// Whether the server cancels it. Where it has ended already, its end is on the way.
    async fn cancel(&mut self) -> bool {
        let Some(backend) = self.backend.filter(|_| !self.call_id.is_empty()) else { return false };
        let request = CancelCallRequest { call: Some(Call::CallId(self.call_id.clone())) };
        let asked = async { backend.tools().cancel_call(request).await.map_err(|_| Failure::Reported) };
        self.interrupts.unless(asked).await.is_ok()
    }
}

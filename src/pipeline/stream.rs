//! A started call, seen from its face: events as they come, then the one end.
//!
//! The call itself runs inline if it is ready at once, otherwise in a task of its own, which bounds it: a face whose
//! reader has stalled, or that is dropped, holds nothing up.

use std::{collections::VecDeque, time::Duration};

use tokio::{select, sync::oneshot, time::timeout};

use crate::{
    context::{CallId, Events},
    contract::{Event, Refusal, Terminal},
};

/// A long call says that it is alive at least this often, so that no idle timer on the way cuts it. `narrate` speaks
/// earlier; this is for those who wait for another call with the same `request_id`.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// One step of a started call.
#[derive(Debug)]
pub enum Step {
    /// Something happened; more will come.
    Event(Event),
    /// The call ended.
    Terminal(Terminal),
}

/// A started call. Dropping it tells the call that its caller is gone.
#[derive(Debug)]
pub struct CallStream {
    call_id: CallId,
    events: Events,
    peeked: VecDeque<Event>,
    end: End,
}

#[derive(Debug)]
pub(super) enum End {
    Ready(Box<Result<Terminal, Refusal>>),
    Coming(oneshot::Receiver<Result<Terminal, Refusal>>),
    Over,
}

impl CallStream {
    pub(super) fn new(call_id: CallId, events: Events, end: End) -> Self {
        Self { call_id, events, peeked: VecDeque::new(), end }
    }

    /// The call.
    pub fn call_id(&self) -> CallId {
        self.call_id
    }

    /// Waits for the first event or the end: a refusal that comes first is no stream at all.
    pub(super) async fn begun(mut self) -> Result<Self, Refusal> {
        match self.step().await {
            Some(Err(refusal)) => Err(refusal),
            Some(Ok(Step::Event(event))) => {
                self.peeked.push_back(event);
                Ok(self)
            }
            Some(Ok(Step::Terminal(terminal))) => {
                self.end = End::Ready(Box::new(Ok(terminal)));
                Ok(self)
            }
            None => Ok(self),
        }
    }

    /// The next step; `None` after the end. A refusal is an end too.
    pub async fn next(&mut self) -> Option<Result<Step, Refusal>> {
        match timeout(HEARTBEAT, self.step()).await {
            Ok(step) => step,
            Err(_) => Some(Ok(Step::Event(alive()))),
        }
    }

    /// The end, passing over every event before it.
    pub async fn terminal(mut self) -> Result<Terminal, Refusal> {
        loop {
            match self.step().await {
                Some(Ok(Step::Event(_))) => {}
                Some(Ok(Step::Terminal(terminal))) => return Ok(terminal),
                Some(Err(refusal)) => return Err(refusal),
                None => return Err(internal(self.call_id)),
            }
        }
    }

    /// Cancel safe: nothing is lost when it is dropped before it is ready.
    async fn step(&mut self) -> Option<Result<Step, Refusal>> {
        if let Some(event) = self.peeked.pop_front() {
            return Some(Ok(Step::Event(event)));
        }
        if let End::Coming(coming) = &mut self.end {
            select! {
                biased;
                Some(event) = self.events.recv() => return Some(Ok(Step::Event(event))),
                end = coming => {
                    // Nobody reads the events of work that goes on beyond the end.
                    self.events.close();
                    // There is no end only when the task panicked.
                    self.end = End::Ready(Box::new(end.unwrap_or_else(|_| Err(internal(self.call_id)))));
                }
            }
        }
        // Events sent before the end are still read.
        if let Ok(event) = self.events.try_recv() {
            return Some(Ok(Step::Event(event)));
        }
        match std::mem::replace(&mut self.end, End::Over) {
            End::Ready(end) => Some(end.map(Step::Terminal)),
            End::Coming(_) | End::Over => None,
        }
    }
}

fn internal(call_id: CallId) -> Refusal {
    Refusal::Internal { call_id: call_id.to_string() }
}

fn alive() -> Event {
    Event::Progress { fraction: None, message: "Still working".to_owned() }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::context::EventSink;

    #[tokio::test]
    async fn a_lost_call_is_a_bug_of_the_service_and_its_events_end() {
        let (sink, events) = EventSink::not_accepted();
        let (sender, receiver) = oneshot::channel();
        let mut stream = CallStream::new(CallId::generate(), events, End::Coming(receiver));
        drop(sender);
        assert!(matches!(stream.next().await, Some(Err(Refusal::Internal { .. }))));
        assert!(sink.closed().now_or_never().is_some(), "work beyond the end still has a listener");
        assert!(stream.next().await.is_none());
    }
}

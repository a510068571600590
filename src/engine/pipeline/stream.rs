//! A started call as its face sees it: a stream of events, then exactly one end.
//!
//! The call runs inline if it is ready at the first poll, otherwise in a spawned task that enforces its deadline: a
//! stalled or dropped face delays nothing.

use std::{
    future::poll_fn,
    mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Sleep, sleep},
};

use super::{CallResult, Facts};
use toolwire_base::{backlog, offload};
use toolwire_contract::{Event, Refusal, Terminal, ToolResult};
use toolwire_tool::context::{CallId, Events, RequestId};

/// Interval of heartbeats, so that no idle timer between server and client closes the stream. `narrate` sends progress
/// earlier; this one serves callers that wait for another call with the same `request_id`.
const HEARTBEAT: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub enum Step {
    /// An event; further steps follow.
    Event(Event),
    Terminal(Terminal),
}

/// A started call. Dropping it cancels the call as abandoned by its caller.
#[derive(Debug)]
pub struct CallStream {
    call_id: CallId,
    facts: Arc<Facts>,
    events: Events,
    /// The first event, which [`open`](Self::open) has received.
    peeked: Option<Event>,
    state: CallState,
    /// The timer of the next heartbeat.
    heartbeat: Option<Pin<Box<Sleep>>>,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "nearly every call has ended when its state is made")]
pub(super) enum CallState {
    Running(oneshot::Receiver<End>),
    Ended(End),
    Delivered,
}

/// The end of a call, until its face takes it.
#[derive(Debug)]
pub(super) struct End {
    pub(super) result: CallResult,
    counted: Option<backlog::Permit>,
}

impl End {
    /// An end that waits while its reader is behind is kept as text and counted. `None` if its stream has ended for
    /// what it does not read: no reader asks for it any more.
    pub(super) fn of(result: CallResult, backlog: Option<&backlog::Stream>) -> Option<Self> {
        let Some(backlog) = backlog.filter(|it| it.held() > 0) else {
            return Some(Self { result, counted: None });
        };
        let (result, bytes) = in_text(result);
        Some(Self { result, counted: Some(backlog.acquire(bytes).ok()?) })
    }
}

/// A result whose large data is text, and what it takes in memory.
fn in_text(result: CallResult) -> (CallResult, usize) {
    let Ok(Terminal::Result(ToolResult { outcome: Ok(data), tool, fetched_at, provenance, kept })) = result
    else {
        return (result, 0);
    };
    let bytes = data.encoded_len();
    let data = if bytes > offload::SMALL { data.without_value() } else { data };
    let result = ToolResult { outcome: Ok(data), tool, fetched_at, provenance, kept };
    (Ok(Terminal::Result(result)), bytes)
}

impl CallStream {
    pub(super) fn new(call_id: CallId, facts: Arc<Facts>, events: Events, state: CallState) -> Self {
        Self { call_id, facts, events, peeked: None, state, heartbeat: None }
    }

    pub fn call_id(&self) -> CallId {
        self.call_id
    }

    /// The `request_id` of a write whose caller asked to resume an equal one.
    pub fn resumed_request_id(&self) -> Option<RequestId> {
        self.facts.resumed_request_id()
    }

    /// Waits for the first event or the end. A refusal that comes first is an error and not a stream.
    pub(super) async fn open(mut self) -> Result<Self, Refusal> {
        match self.step().await {
            Some(Err(refusal)) => {
                self.facts.deliver(Err(&refusal));
                Err(refusal)
            }
            Some(Ok(Step::Event(event))) => {
                self.peeked = Some(event);
                Ok(self)
            }
            Some(Ok(Step::Terminal(terminal))) => {
                self.state = CallState::Ended(End { result: Ok(terminal), counted: None });
                Ok(self)
            }
            None => Ok(self),
        }
    }

    /// The next step; `None` after the end. A refusal is an end too. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<Step, Refusal>> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// Polls for the next step, as [`next`](Self::next) does.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Step, Refusal>>> {
        if let Poll::Ready(step) = self.poll_step(cx) {
            self.heartbeat = None;
            self.deliver_step(step.as_ref());
            return Poll::Ready(step);
        }
        // Created at the first wait: most calls need no timer.
        let heartbeat = self.heartbeat.get_or_insert_with(|| Box::pin(sleep(HEARTBEAT)));
        ready!(heartbeat.as_mut().poll(cx));
        self.heartbeat = None;
        Poll::Ready(Some(Ok(Step::Event(alive()))))
    }

    /// Discards all events and returns the end.
    pub async fn terminal(mut self) -> Result<Terminal, Refusal> {
        loop {
            let step = self.step().await;
            self.deliver_step(step.as_ref());
            match step {
                Some(Ok(Step::Event(_))) => {}
                Some(Ok(Step::Terminal(terminal))) => return Ok(terminal),
                Some(Err(refusal)) => return Err(refusal),
                None => return Err(internal(self.call_id)),
            }
        }
    }

    fn deliver_step(&self, step: Option<&Result<Step, Refusal>>) {
        match step {
            Some(Ok(Step::Terminal(terminal))) => self.facts.deliver(Ok(terminal)),
            Some(Err(refusal)) => self.facts.deliver(Err(refusal)),
            Some(Ok(Step::Event(_))) | None => {}
        }
    }

    async fn step(&mut self) -> Option<Result<Step, Refusal>> {
        poll_fn(|cx| self.poll_step(cx)).await
    }

    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Step, Refusal>>> {
        if let Some(event) = self.peeked.take() {
            return Poll::Ready(Some(Ok(Step::Event(event))));
        }
        if let CallState::Running(receiver) = &mut self.state {
            if let Poll::Ready(Some(event)) = self.events.poll_recv(cx) {
                return Poll::Ready(Some(Ok(Step::Event(event))));
            }
            let end = ready!(Pin::new(receiver).poll(cx));
            // Closed before the remaining events are drained below: work that continues after the end has no reader,
            // and would fill the channel.
            self.events.close();
            // The sender is dropped without an end only if the task panicked.
            let lost = |_| End { result: Err(internal(self.call_id)), counted: None };
            self.state = CallState::Ended(end.unwrap_or_else(lost));
        }
        // Events that were sent before the end are delivered before it.
        if let Ok(event) = self.events.try_recv() {
            return Poll::Ready(Some(Ok(Step::Event(event))));
        }
        Poll::Ready(match mem::replace(&mut self.state, CallState::Delivered) {
            CallState::Ended(End { result, counted }) => {
                if let Some(counted) = counted {
                    counted.pass_on();
                }
                Some(result.map(Step::Terminal))
            }
            CallState::Running(_) | CallState::Delivered => None,
        })
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

    use std::time::SystemTime;

    use serde_json::json;

    use super::*;
    use toolwire_base::backlog::{Backlog, Bound, Bounds};
    use toolwire_contract::{Payload, Provenance};
    use toolwire_tool::context::EventSink;

    #[test]
    fn an_end_behind_what_is_not_read_counts_as_text() {
        let value = json!(vec![json!({"a": 1}); 5_000]);
        let bytes = value.to_string().len();
        let end = || {
            Ok(Terminal::Result(ToolResult {
                tool: "t".parse().expect("a name"),
                fetched_at: SystemTime::UNIX_EPOCH,
                outcome: Ok(Payload::from_json(value.clone())),
                provenance: Provenance::default(),
                kept: None,
            }))
        };
        let backlog = Backlog::new(Bounds { user: 2 * bytes, ..Bounds::default() });
        let stream = backlog.connection().stream("a");
        let at_once = End::of(end(), Some(&stream)).expect("nothing waits");
        assert!(at_once.counted.is_none() && backlog.held() == 0);
        let _unread = stream.acquire(10).expect("there is room");
        let waiting = End::of(end(), Some(&stream)).expect("there is room");
        assert_eq!(backlog.held(), bytes + 10);
        let Ok(Terminal::Result(ToolResult { outcome: Ok(data), .. })) = &waiting.result else { panic!() };
        assert_eq!((data.json_text().len(), data.json()), (bytes, &value), "the value is the same");
        assert!(End::of(end(), Some(&stream)).is_none(), "a stream that holds the most ends");
        assert_eq!((stream.ended(), backlog.held()), (Some(Bound::User), bytes + 10));
    }

    #[tokio::test]
    async fn a_lost_call_is_a_bug_of_the_service_and_its_events_end() {
        let (sink, events) = EventSink::not_accepted();
        let (sender, receiver) = oneshot::channel();
        let mut stream =
            CallStream::new(CallId::generate(), Arc::default(), events, CallState::Running(receiver));
        drop(sender);
        assert!(matches!(stream.next().await, Some(Err(Refusal::Internal { .. }))));
        assert!(sink.closed().now_or_never().is_some(), "work beyond the end still has a listener");
        assert!(stream.next().await.is_none());
    }
}

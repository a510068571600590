//! The channel of progress events from a tool to its caller, bounded in number and in bytes. Events sent before the
//! call is accepted are dropped. The final result does not go through it.
//!
//! Sequence numbers are assigned by the receiver, so that a dropped event leaves no gap.

use std::future::pending;

use serde_json::{Map, Value};

#[cfg(any(test, feature = "testing"))]
use super::backpressure::UnreadBounds;
use super::{
    UserId,
    backpressure::EventBackpressure,
    reader::{CloseSignal, Events, Reader},
    subscribers::Subscribers,
};
use toolwire_base::backlog;
use toolwire_contract::{ConfirmationRequired, Event};

/// The sending end of a call's events. Cheap to clone; clones share state.
///
/// The first event that a reader receives is that the call is accepted: until [`accepted`](Self::accepted) a sink drops
/// everything, and clones made before it do so for good.
#[derive(Clone, Debug)]
pub struct EventSink(Consumer);

/// What becomes of the events.
#[derive(Clone, Debug)]
enum Consumer {
    Discard,
    /// A caller that waits for the result only: it gets no events, and is watched for its departure.
    Signal(CloseSignal),
    /// A reader that gets nothing until the call is accepted.
    Pending(Reader),
    Reader(Reader),
    /// The readers of the calls that share this work.
    Subscribers(Subscribers),
    /// The consumer of the parent call's events, which gets progress and nothing else.
    Parent(Box<Consumer>),
}

impl EventSink {
    /// A sink and its receiving end, whose unread bytes count against those of the user and of all, and in the backlog
    /// of the peer that they are for, if there is one.
    pub fn channel(
        unread: &EventBackpressure,
        user: UserId,
        backlog: Option<backlog::Stream>,
    ) -> (Self, Events) {
        let (reader, events) = Reader::new(unread, user, backlog);
        (Self(Consumer::Pending(reader)), events)
    }

    /// A sink without a particular user, for tests.
    #[cfg(any(test, feature = "testing"))]
    pub fn not_accepted() -> (Self, Events) {
        Self::channel(
            &EventBackpressure::new(UnreadBounds::default()),
            "nobody".parse().expect("a user id"),
            None,
        )
    }

    /// The sink of an accepted call, and its receiving end.
    #[cfg(any(test, feature = "testing"))]
    pub fn speaking() -> (Self, Events) {
        let (sink, events) = Self::not_accepted();
        let Consumer::Pending(reader) = sink.0 else { unreachable!("it is not accepted yet") };
        (Self(Consumer::Reader(reader)), events)
    }

    /// A sink whose events have no reader, and an end that only signals, by being dropped, that the caller is gone.
    pub fn unread() -> (Self, Events) {
        let (signal, events) = CloseSignal::new();
        (Self(Consumer::Signal(signal)), events)
    }

    /// A sink that discards its events.
    pub fn discarding() -> Self {
        Self(Consumer::Discard)
    }

    /// A sink whose events reach all subscribers.
    pub fn to_subscribers(subscribers: Subscribers) -> Self {
        Self(Consumer::Subscribers(subscribers))
    }

    /// Lets the reader of this sink, if there is one, read the events of shared work too.
    pub fn subscribe_to(&self, subscribers: &Subscribers) {
        match &self.0 {
            Consumer::Reader(reader) => subscribers.add(reader.clone()),
            Consumer::Parent(parent) => parent.follow(subscribers),
            Consumer::Discard | Consumer::Signal(_) | Consumer::Pending(_) | Consumer::Subscribers(_) => {}
        }
    }

    /// The sink of a nested call: its progress goes to the reader of this one.
    #[must_use]
    pub fn nested(&self) -> Self {
        match &self.0 {
            Consumer::Discard | Consumer::Signal(_) | Consumer::Pending(_) => Self::discarding(),
            Consumer::Parent(_) => self.clone(),
            to => Self(Consumer::Parent(Box::new(to.clone()))),
        }
    }

    /// Whether the events have a reader. Without one, a caller can spare itself the formatting of their texts.
    pub fn has_reader(&self) -> bool {
        self.0.has_reader()
    }

    /// Sends the event that the call is accepted. From here on this sink sends, and so do clones made of it.
    pub fn accepted(&mut self, event: impl FnOnce() -> Event) {
        if let Consumer::Pending(reader) = &self.0 {
            let reader = reader.clone();
            // Fails only if the reader is gone: the channel is empty, since nothing was sent before.
            let _ = reader.try_send(&event());
            self.0 = Consumer::Reader(reader);
        }
    }

    /// Reports progress. Dropped when the reader is slow: the next report supersedes it.
    pub fn progress(&self, fraction: Option<f64>, message: impl Into<String>) {
        self.0.offer(&Event::Progress { fraction, message: message.into() });
    }

    /// Sends a part of the data, waiting for a slow reader. Lost when the reader is gone.
    pub async fn chunk(&self, data: Map<String, Value>) {
        match &self.0 {
            Consumer::Discard | Consumer::Signal(_) | Consumer::Pending(_) | Consumer::Parent(_) => {}
            Consumer::Reader(reader) => {
                if reader.send(Event::Chunk(data)).await.is_err() {
                    // A send to a closed channel does not suspend. Without this, a tool that only sends would run to
                    // its end before the task that watches `closed` could cancel it.
                    tokio::task::yield_now().await;
                }
            }
            Consumer::Subscribers(subscribers) => subscribers.send(Event::Chunk(data)).await,
        }
    }

    /// Reports that a person must approve the call, waiting for a slow reader. Lost when the reader is gone.
    pub async fn awaiting_confirmation(&self, confirmation: Box<ConfirmationRequired>) {
        if let Consumer::Reader(reader) = &self.0 {
            let _ = reader.send(Event::AwaitingConfirmation(confirmation)).await;
        }
    }

    /// Completes once the reader is gone. Pending forever for a sink that discards its events, for a nested call, whose
    /// parent is watched in its place, and for shared work, which its waiters keep alive.
    pub async fn closed(&self) {
        match &self.0 {
            Consumer::Signal(signal) => signal.closed().await,
            Consumer::Pending(reader) | Consumer::Reader(reader) => reader.closed().await,
            Consumer::Discard | Consumer::Subscribers(_) | Consumer::Parent(_) => pending().await,
        }
    }
}

impl Consumer {
    fn has_reader(&self) -> bool {
        match self {
            Self::Discard | Self::Signal(_) | Self::Pending(_) => false,
            Self::Reader(reader) => !reader.is_closed(),
            Self::Subscribers(subscribers) => !subscribers.is_empty(),
            Self::Parent(parent) => parent.has_reader(),
        }
    }

    fn offer(&self, event: &Event) {
        match (self, event) {
            (Self::Reader(reader), event) => {
                let _ = reader.try_send(event);
            }
            (Self::Subscribers(subscribers), event) => subscribers.try_send(event),
            // The fraction is of the nested call alone, and would be misread as one of the parent.
            (Self::Parent(parent), Event::Progress { message, .. }) => {
                parent.offer(&Event::Progress { fraction: None, message: message.clone() });
            }
            (Self::Discard | Self::Signal(_) | Self::Pending(_) | Self::Parent(_), _) => {}
        }
    }

    /// Lets the readers follow the progress of shared work.
    fn follow(&self, subscribers: &Subscribers) {
        match self {
            Self::Reader(reader) => subscribers.add_follower(reader.clone()),
            Self::Subscribers(readers) => readers.follow(subscribers),
            Self::Parent(parent) => parent.follow(subscribers),
            Self::Discard | Self::Signal(_) | Self::Pending(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use futures_util::FutureExt;

    use super::*;

    fn progress_of(events: &mut Events) -> Vec<String> {
        let mut messages = Vec::new();
        while let Ok(event) = events.try_recv() {
            match event {
                Event::Progress { message, .. } => messages.push(message),
                other => panic!("{other:?}"),
            }
        }
        messages
    }

    #[tokio::test]
    async fn nothing_is_said_before_the_call_is_accepted() {
        let subscribers = Subscribers::default();
        let work = EventSink::to_subscribers(subscribers.clone());
        let (mut sink, mut events) = EventSink::not_accepted();
        let early = sink.clone();
        let accepted = || Event::Accepted {
            tool: "t".parse().expect("a name"),
            digest: toolwire_base::digest::Digest::of_bytes(b""),
            deadline: SystemTime::UNIX_EPOCH,
        };
        for silent in [&sink, &early] {
            silent.progress(None, "too early");
            silent.chunk(Map::new()).await;
            silent.subscribe_to(&subscribers);
            assert!(!silent.has_reader());
        }
        work.progress(None, "too early");
        sink.accepted(accepted);
        sink.accepted(accepted);
        early.progress(None, "never");
        sink.clone().progress(None, "a");
        assert!(matches!(events.try_recv(), Ok(Event::Accepted { .. })));
        assert_eq!(progress_of(&mut events), ["a"]);
        drop(events);
        assert!(
            early.closed().now_or_never().is_some(),
            "a sink that is not accepted knows too that its reader is gone"
        );
    }

    #[tokio::test]
    async fn every_subscriber_gets_the_events_from_when_it_came() {
        let subscribers = Subscribers::default();
        let work = EventSink::to_subscribers(subscribers.clone());
        assert!(!work.has_reader());
        let (first, mut first_events) = EventSink::speaking();
        first.subscribe_to(&subscribers);
        work.progress(None, "a");
        let (second, mut second_events) = EventSink::speaking();
        second.subscribe_to(&subscribers);
        EventSink::unread().0.subscribe_to(&subscribers);
        work.progress(None, "b");
        assert_eq!(progress_of(&mut first_events), ["a", "b"]);
        assert_eq!(progress_of(&mut second_events), ["b"]);
        drop((first_events, second_events));
        assert!(!work.has_reader());
    }

    #[tokio::test]
    async fn the_reader_of_a_call_hears_how_far_its_nested_calls_are_and_nothing_else() {
        let (outer, mut events) = EventSink::speaking();
        let nested = outer.nested().nested();
        nested.progress(Some(0.5), "waiting");
        nested.chunk(Map::new()).await;
        assert!(nested.has_reader());
        let shared = Subscribers::default();
        nested.subscribe_to(&shared);
        let work = EventSink::to_subscribers(shared);
        work.progress(None, "shared");
        work.chunk(Map::new()).await;
        let first = events.try_recv().unwrap();
        assert!(matches!(first, Event::Progress { fraction: None, message } if message == "waiting"));
        assert_eq!(progress_of(&mut events), ["shared"]);
        let below = Subscribers::default();
        work.nested().subscribe_to(&below);
        EventSink::to_subscribers(below).progress(None, "below");
        assert_eq!(progress_of(&mut events), ["below"]);
        assert!(!EventSink::unread().0.nested().has_reader());
    }

    #[tokio::test]
    async fn a_reader_who_stalls_holds_up_no_other() {
        let subscribers = Subscribers::default();
        let work = EventSink::to_subscribers(subscribers.clone());
        let (stalled, _stalled_events) = EventSink::speaking();
        stalled.subscribe_to(&subscribers);
        for _ in 0..16 {
            work.chunk(Map::new()).await;
        }
        assert!(work.chunk(Map::new()).now_or_never().is_none(), "a lone reader sets the pace");
        let (quick, mut quick_events) = EventSink::speaking();
        quick.subscribe_to(&subscribers);
        assert!(work.chunk(Map::new()).now_or_never().is_some());
        assert!(matches!(quick_events.try_recv(), Ok(Event::Chunk(_))));
    }

    fn large(bytes: usize) -> Map<String, Value> {
        Map::from_iter([("text".to_owned(), "x".repeat(bytes).into())])
    }

    #[tokio::test]
    async fn a_tool_waits_while_a_mebibyte_is_unread_and_what_was_taken_last_is_unread_yet() {
        let (sink, mut events) = EventSink::speaking();
        sink.chunk(large(600_000)).await;
        assert!(sink.chunk(large(600_000)).now_or_never().is_none(), "two are more than 1 MiB");
        assert!(matches!(events.recv().await, Some(Event::Chunk(_))));
        assert!(sink.chunk(large(600_000)).now_or_never().is_none(), "the first has not left yet");
        assert!(events.recv().now_or_never().is_none());
        sink.chunk(large(600_000)).await;
        // One that is larger than the bound comes through alone, and its sender learns that the reader is gone.
        assert!(events.recv().await.is_some() && events.recv().now_or_never().is_none());
        sink.chunk(large(3 << 20)).await;
        let mut waiting = Box::pin(sink.chunk(large(3 << 20)));
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(events);
        waiting.await;
    }

    #[tokio::test]
    async fn the_streams_of_one_user_leave_room_for_those_of_others() {
        let unread = EventBackpressure::new(UnreadBounds { stream: 1 << 20, user: 1 << 20, all: 2 << 20 });
        let of = |user: &str| {
            let (mut sink, events) = EventSink::channel(&unread, user.parse().expect("a user id"), None);
            sink.accepted(|| Event::Progress { fraction: None, message: String::new() });
            (sink, events)
        };
        let ((first, _stalled), (second, _too)) = (of("mallory"), of("mallory"));
        first.chunk(large(600_000)).await;
        assert!(second.chunk(large(600_000)).now_or_never().is_none());
        let (others, _events) = of("riley");
        assert!(others.chunk(large(600_000)).now_or_never().is_some());
    }

    #[tokio::test]
    async fn a_chunk_counts_from_when_it_is_made_until_its_message_has_left() {
        let backlog = backlog::Backlog::default();
        let stream = backlog.connection().stream("riley");
        let unread = EventBackpressure::new(UnreadBounds::default());
        let user = "riley".parse().expect("a user id");
        let (mut sink, mut events) = EventSink::channel(&unread, user, Some(stream.clone()));
        sink.accepted(|| Event::Progress { fraction: None, message: String::new() });
        let text = Value::Object(large(600_000)).to_string().len();
        sink.chunk(large(600_000)).await;
        let one = backlog.held();
        assert!((600_000..610_000).contains(&one), "{one}");
        let mut waiting = Box::pin(sink.chunk(large(600_000)));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert_eq!(backlog.held(), one + text, "that which its tool has in hand counts as text");
        assert!(events.recv().await.is_some() && events.recv().await.is_some());
        assert_eq!(backlog.held(), one + text, "a message is made of the first");
        drop(stream.take_up(text));
        assert_eq!(backlog.held(), text);
        assert!(events.recv().now_or_never().is_none());
        waiting.await;
        let Some(Event::Chunk(second)) = events.recv().await else { panic!("it has come") };
        assert_eq!(second, large(600_000));
        drop((sink, events));
        stream.detach();
        assert_eq!(backlog.held(), 0);
    }

    #[tokio::test]
    async fn a_chunk_beyond_a_bound_is_dropped_and_its_stream_ends() {
        let bounds = backlog::Bounds { user: 100_000, ..backlog::Bounds::default() };
        let backlog = backlog::Backlog::new(bounds);
        let stream = backlog.connection().stream("riley");
        let unread = EventBackpressure::new(UnreadBounds::default());
        let user = "riley".parse().expect("a user id");
        let (mut sink, events) = EventSink::channel(&unread, user, Some(stream.clone()));
        sink.accepted(|| Event::Progress { fraction: None, message: String::new() });
        let mut waiting = Box::pin(sink.chunk(large(600_000)));
        assert!(waiting.as_mut().now_or_never().is_none(), "it makes no more");
        assert_eq!((stream.ended(), backlog.held()), (Some(backlog::Bound::User), 0));
        drop(events);
        waiting.await;
    }

    #[tokio::test]
    async fn a_caller_who_only_waits_is_told_nothing_and_its_leaving_is_seen() {
        let (sink, mut events) = EventSink::unread();
        sink.progress(None, "a");
        sink.chunk(Map::new()).await;
        assert!(!sink.has_reader() && events.try_recv().is_err());
        assert!(sink.closed().now_or_never().is_none());
        drop(events);
        assert!(sink.closed().now_or_never().is_some());
    }
}

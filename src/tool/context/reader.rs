//! One reader of events: the channel to it, bounded in number and in bytes. Its events are counted in the backlog of
//! its peer, if it has one, also while their tool waits.

use std::{
    future::pending,
    sync::Arc,
    task::{Context, Poll, ready},
};

use serde_json::{Map, Value};
use tokio::{
    select,
    sync::mpsc::{
        self,
        error::{TryRecvError, TrySendError},
    },
};

use super::{
    UserId,
    backpressure::{BytePermit, EventBackpressure, StreamBudget, estimate_size},
};
use toolwire_base::{backlog, offload};
use toolwire_contract::Event;

/// Maximum number of events that wait for a slow reader.
const CAPACITY: usize = 16;

/// A chunk that takes more than this waits as text.
const MAX_VALUE: usize = 1024 * 1024;

/// The receiving end: what a face renders.
#[derive(Debug)]
pub struct Events {
    receiver: mpsc::Receiver<Box<HeldEvent>>,
    /// The permit of the event that was received last. It is held until the next one is asked for: only then has the
    /// face written the event out.
    taken: Option<BytePermit>,
}

/// The sending end of one reader.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    sender: mpsc::Sender<Box<HeldEvent>>,
    unread: Arc<StreamBudget>,
    /// The backlog of its peer. `None` for a reader in this process.
    backlog: Option<backlog::Stream>,
}

/// Signals, by being closed, that a caller without a reader is gone.
#[derive(Clone, Debug)]
pub(super) struct CloseSignal(mpsc::Sender<Box<HeldEvent>>);

/// An event in the channel, with the permit for its bytes. Boxed, since the channel allocates a block of 32 slots at
/// once.
#[derive(Debug)]
struct HeldEvent {
    event: Waiting,
    bytes: Option<BytePermit>,
    counted: Option<backlog::Permit>,
}

#[derive(Debug)]
enum Waiting {
    Event(Event),
    /// A chunk as JSON text, which takes a part of the memory that its values do.
    Chunk(String),
}

/// Why an event was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotSent {
    /// The channel is full, or a budget of bytes is used up.
    Full,
    /// The receiving end was dropped or closed, or its stream has ended for what it does not read.
    Closed,
}

impl Reader {
    /// A reader and its receiving end. Unread bytes count against those of the user and of all.
    pub(super) fn new(
        unread: &EventBackpressure,
        user: UserId,
        backlog: Option<backlog::Stream>,
    ) -> (Self, Events) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let unread = Arc::new(unread.stream(user));
        (Self { sender, unread, backlog }, Events { receiver, taken: None })
    }

    /// Completes once the receiving end is closed.
    pub(super) async fn closed(&self) {
        self.sender.closed().await;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// Sends an event if there is room for it now.
    pub(super) fn try_send(&self, event: &Event) -> Result<(), NotSent> {
        // The slot first: it costs nothing to give back, and an event without a slot needs no bytes.
        let permit = self.sender.try_reserve().map_err(|error| match error {
            TrySendError::Full(()) => NotSent::Full,
            TrySendError::Closed(()) => NotSent::Closed,
        })?;
        let bytes = match size_of_chunk(event) {
            0 => None,
            bytes => Some(self.unread.try_acquire(bytes).map_err(|_| NotSent::Full)?),
        };
        let counted = match &self.backlog {
            Some(backlog) => Some(backlog.try_acquire(size_of(event)).ok_or(NotSent::Full)?),
            None => None,
        };
        permit.send(Box::new(HeldEvent { event: Waiting::Event(event.clone()), bytes, counted }));
        Ok(())
    }

    /// Sends an event once there is room for it.
    pub(super) async fn send(&self, event: Event) -> Result<(), NotSent> {
        let sending = async {
            if self.backlog.as_ref().is_some_and(|it| it.ended().is_some()) {
                return pending().await;
            }
            // The bytes first, unlike in `try_send`: a slot held while waiting for them would block `try_send`, by
            // which progress still comes through.
            let size = size_of_chunk(&event);
            let mut bytes = self.unread.try_acquire(size).ok();
            let event = match bytes {
                Some(_) if size <= MAX_VALUE => Waiting::Event(event),
                _ => Waiting::in_text(event),
            };
            // Counted before it waits: it is there, whether there is room for it or not.
            let counted = match &self.backlog {
                Some(backlog) => {
                    let Ok(permit) = backlog.acquire(event.size()) else {
                        // Its stream ends, which is seen below; until then its tool makes no more.
                        drop(event);
                        return pending().await;
                    };
                    Some(permit)
                }
                None => None,
            };
            if bytes.is_none() {
                bytes = Some(self.unread.acquire(size).await);
            }
            let held = Box::new(HeldEvent { event, bytes, counted });
            self.sender.send(held).await.map_err(|_| NotSent::Closed)
        };
        select! {
            // In this order, nothing is acquired for a reader that is gone.
            biased;
            () = self.sender.closed() => Err(NotSent::Closed),
            sent = sending => sent,
        }
    }
}

impl CloseSignal {
    /// A signal, and the receiving end that the caller holds. No event is ever sent.
    pub(super) fn new() -> (Self, Events) {
        let (sender, receiver) = mpsc::channel(1);
        (Self(sender), Events { receiver, taken: None })
    }

    /// Completes once the caller is gone.
    pub(super) async fn closed(&self) {
        self.0.closed().await;
    }
}

impl Events {
    /// The next event; `None` once all senders are closed. Cancel safe.
    pub async fn recv(&mut self) -> Option<Event> {
        self.taken = None;
        let held = self.receiver.recv().await?;
        Some(self.take(*held))
    }

    /// Polls for the next event, as [`recv`](Self::recv).
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.taken = None;
        let held = ready!(self.receiver.poll_recv(cx));
        Poll::Ready(held.map(|held| self.take(*held)))
    }

    /// The next event, if it is there already.
    pub fn try_recv(&mut self) -> Result<Event, TryRecvError> {
        self.taken = None;
        let held = self.receiver.try_recv()?;
        Ok(self.take(*held))
    }

    /// Closes the channel to senders. Events sent before can still be received.
    pub fn close(&mut self) {
        self.receiver.close();
    }

    fn take(&mut self, HeldEvent { event, bytes, counted }: HeldEvent) -> Event {
        self.taken = bytes;
        // From here on its message counts, which is made of it.
        if let Some(counted) = counted {
            counted.pass_on();
        }
        event.into_event()
    }
}

impl Waiting {
    fn in_text(event: Event) -> Self {
        match event {
            Event::Chunk(data) => {
                let data = Value::Object(data);
                let text = data.to_string();
                offload::discard(text.len(), data);
                Self::Chunk(text)
            }
            event => Self::Event(event),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Event(event) => size_of(event),
            Self::Chunk(text) => text.len(),
        }
    }

    fn into_event(self) -> Event {
        match self {
            Self::Event(event) => event,
            Self::Chunk(text) => {
                Event::Chunk(serde_json::from_str::<Map<_, _>>(&text).expect("it was written of an object"))
            }
        }
    }
}

/// The memory that an event takes. `Accepted` counts as nothing: it is the first event, so nothing waits before it.
fn size_of(event: &Event) -> usize {
    match event {
        Event::Accepted { .. } => 0,
        Event::Progress { message, .. } => message.len(),
        Event::Chunk(data) => estimate_size(data),
        Event::AwaitingConfirmation(it) => it.summary.len() + estimate_size(&it.arguments),
    }
}

/// The size that counts against the budgets: only chunks are large.
fn size_of_chunk(event: &Event) -> usize {
    match event {
        Event::Chunk(data) => estimate_size(data),
        _ => 0,
    }
}

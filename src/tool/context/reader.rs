//! One reader of events: the channel to it, bounded in number and in bytes.

use std::{
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{
    select,
    sync::mpsc::{
        self,
        error::{TryRecvError, TrySendError},
    },
};

use super::{
    UserId,
    unread::{BytePermit, StreamBudget, Unread, estimate_size},
};
use toolwire_contract::Event;

/// Maximum number of events that wait for a slow reader.
const CAPACITY: usize = 16;

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
}

/// Signals, by being closed, that a caller without a reader is gone.
#[derive(Clone, Debug)]
pub(super) struct CloseSignal(mpsc::Sender<Box<HeldEvent>>);

/// An event in the channel, with the permit for its bytes. Boxed, since the channel allocates a block of 32 slots at
/// once.
#[derive(Debug)]
struct HeldEvent {
    event: Event,
    bytes: Option<BytePermit>,
}

/// Why an event was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotSent {
    /// The channel is full, or a budget of bytes is used up.
    Full,
    /// The receiving end was dropped or closed.
    Closed,
}

impl Reader {
    /// A reader and its receiving end. Unread bytes count against those of the user and of all.
    pub(super) fn new(unread: &Unread, user: UserId) -> (Self, Events) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let unread = Arc::new(unread.stream(user));
        (Self { sender, unread }, Events { receiver, taken: None })
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
        permit.send(Box::new(HeldEvent { event: event.clone(), bytes }));
        Ok(())
    }

    /// Sends an event once there is room for it.
    pub(super) async fn send(&self, event: Event) -> Result<(), NotSent> {
        let sending = async {
            // The bytes first, unlike in `try_send`: a slot held while waiting for them would block `try_send`, by
            // which progress still comes through.
            let bytes = match size_of_chunk(&event) {
                0 => None,
                bytes => Some(self.unread.acquire(bytes).await),
            };
            self.sender.send(Box::new(HeldEvent { event, bytes })).await.map_err(|_| NotSent::Closed)
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

    fn take(&mut self, HeldEvent { event, bytes }: HeldEvent) -> Event {
        self.taken = bytes;
        event
    }
}

/// The size that counts against the budgets: only chunks are large.
fn size_of_chunk(event: &Event) -> usize {
    match event {
        Event::Chunk(data) => estimate_size(data),
        _ => 0,
    }
}

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
    unread::{Bytes, OfStream, Unread, weight},
};
use toolwire_contract::Event;

/// How many events may wait for a slow reader.
const CAPACITY: usize = 16;

/// The receiving end: what a face renders.
#[derive(Debug)]
pub struct Events {
    receiver: mpsc::Receiver<Box<HeldEvent>>,
    /// What was taken last counts as unread until more is asked for: only then has it left.
    taken: Option<Bytes>,
}

/// The sending end of one reader.
#[derive(Clone, Debug)]
pub(super) struct Reader {
    sender: mpsc::Sender<Box<HeldEvent>>,
    unread: Arc<OfStream>,
}

/// A caller that waits for the end only.
#[derive(Clone, Debug)]
pub(super) struct Waiter(mpsc::Sender<Box<HeldEvent>>);

/// An event under way, and the bytes that it holds. Boxed in the channel, which has room for 32 from its beginning.
#[derive(Debug)]
struct HeldEvent {
    event: Event,
    bytes: Option<Bytes>,
}

/// An event was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// There is no room now.
    Full,
    /// The reader is gone.
    Gone,
}

impl Reader {
    /// A reader and its receiving end. Unread bytes count against those of the user and of all.
    pub(super) fn new(unread: &Unread, user: UserId) -> (Self, Events) {
        let (sender, receiver) = mpsc::channel(CAPACITY);
        let unread = Arc::new(unread.stream(user));
        (Self { sender, unread }, Events { receiver, taken: None })
    }

    /// Waits until the reader is gone.
    pub(super) async fn gone(&self) {
        self.sender.closed().await;
    }

    pub(super) fn is_gone(&self) -> bool {
        self.sender.is_closed()
    }

    /// Hands an event over if there is room for it now.
    pub(super) fn try_send(&self, event: &Event) -> Result<(), NotTaken> {
        let permit = self.sender.try_reserve().map_err(|error| match error {
            TrySendError::Full(()) => NotTaken::Full,
            TrySendError::Closed(()) => NotTaken::Gone,
        })?;
        let bytes = match weight_of(event) {
            0 => None,
            bytes => Some(self.unread.try_hold(bytes).map_err(|_| NotTaken::Full)?),
        };
        permit.send(Box::new(HeldEvent { event: event.clone(), bytes }));
        Ok(())
    }

    /// Hands an event over once there is room for it.
    pub(super) async fn send(&self, event: Event) -> Result<(), NotTaken> {
        let handed_over = async {
            let bytes = match weight_of(&event) {
                0 => None,
                bytes => Some(self.unread.hold(bytes).await),
            };
            self.sender.send(Box::new(HeldEvent { event, bytes })).await.map_err(|_| NotTaken::Gone)
        };
        select! {
            biased;
            () = self.sender.closed() => Err(NotTaken::Gone),
            sent = handed_over => sent,
        }
    }
}

impl Waiter {
    /// A consumer that reads no events, and a receiving end that only signals, by being dropped, that the caller is
    /// gone.
    pub(super) fn new() -> (Self, Events) {
        let (sender, receiver) = mpsc::channel(1);
        (Self(sender), Events { receiver, taken: None })
    }

    /// Waits until the caller is gone.
    pub(super) async fn gone(&self) {
        self.0.closed().await;
    }
}

impl Events {
    /// The next event; `None` once all senders are closed. Cancel safe.
    pub async fn recv(&mut self) -> Option<Event> {
        self.taken = None;
        let said = self.receiver.recv().await?;
        Some(self.take(*said))
    }

    /// The same, to be polled.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.taken = None;
        let said = ready!(self.receiver.poll_recv(cx));
        Poll::Ready(said.map(|said| self.take(*said)))
    }

    /// The next event, if it is there already.
    pub fn try_recv(&mut self) -> Result<Event, TryRecvError> {
        self.taken = None;
        let said = self.receiver.try_recv()?;
        Ok(self.take(*said))
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

/// The bytes that an event holds. Words on the way are short and few.
fn weight_of(event: &Event) -> usize {
    match event {
        Event::Chunk(data) => weight(data),
        _ => 0,
    }
}

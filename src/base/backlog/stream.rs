//! How bytes of a stream are counted, change their form, and end it.

use std::{
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use super::{Bound, Bounds, Connection, OfStream, Permit, Stream, User, lock, relief};

impl Stream {
    pub(super) fn new(connection: &Connection, user: Arc<User>, has_task: bool) -> Self {
        Self(Arc::new(OfStream {
            id: connection.shared().next_id(),
            connection: connection.clone(),
            user,
            held: AtomicUsize::new(0),
            in_transit: AtomicUsize::new(0),
            is_listed: AtomicBool::new(false),
            has_task: AtomicBool::new(has_task),
            task: Mutex::default(),
            ended: OnceLock::new(),
            is_reported: AtomicBool::new(false),
        }))
    }

    pub fn user(&self) -> &str {
        &self.0.user.name
    }

    /// The bounds that it counts against.
    pub fn bounds(&self) -> Bounds {
        self.0.user.shared.bounds
    }

    /// The bytes that wait for its reader now.
    pub fn held(&self) -> usize {
        self.0.held.load(Relaxed)
    }

    /// Takes a permit for bytes that are to wait. Beyond a bound the largest holder ends; if that is this stream, there
    /// is no permit, and the bytes are to be dropped.
    pub fn acquire(&self, bytes: usize) -> Result<Permit, Bound> {
        self.grow(bytes)?;
        Ok(Permit { stream: self.clone(), bytes })
    }

    /// Takes a permit if that is within all bounds.
    pub fn try_acquire(&self, bytes: usize) -> Option<Permit> {
        let is_within = self.0.add(bytes);
        let permit = Permit { stream: self.clone(), bytes };
        is_within.then_some(permit)
    }

    /// Counts bytes that are there already, whatever the bounds.
    pub fn count(&self, bytes: usize) -> Permit {
        self.0.add(bytes);
        Permit { stream: self.clone(), bytes }
    }

    /// Puts bytes into transit, in place of those that are: they have been made of them. Fails as
    /// [`acquire`](Self::acquire) does.
    pub fn pass_on(&self, bytes: usize) -> Result<(), Bound> {
        let before = self.0.in_transit.swap(bytes, Relaxed);
        if bytes <= before {
            self.0.remove(before - bytes);
            return Ok(());
        }
        self.grow(bytes - before).inspect_err(|_| {
            self.0.remove(self.0.in_transit.swap(0, Relaxed).saturating_sub(bytes - before));
        })
    }

    /// Takes what is in transit up, as this many bytes.
    pub fn take_up(&self, bytes: usize) -> Permit {
        self.0.replace(self.0.in_transit.swap(0, Relaxed), bytes);
        Permit { stream: self.clone(), bytes }
    }

    /// The bound beyond which it was ended. What it would send is to be dropped.
    pub fn ended(&self) -> Option<Bound> {
        self.0.ended.get().map(|(bound, _)| *bound)
    }

    /// Ready when it is ended.
    pub fn poll_ended(&self, cx: &Context<'_>) -> Poll<Bound> {
        let mut task = lock(&self.0.task);
        if let Some(bound) = self.ended() {
            return Poll::Ready(bound);
        }
        match &mut *task {
            Some(known) => known.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Its bound, for the first caller after its end, which reports it.
    pub fn take_report(&self) -> Option<Bound> {
        let bound = self.ended()?;
        (!self.0.is_reported.swap(true, Relaxed)).then_some(bound)
    }

    /// Its task has handed all to the connection, or has dropped it.
    pub fn detach(&self) {
        self.0.has_task.store(false, Relaxed);
        self.0.remove(self.0.in_transit.swap(0, Relaxed));
    }

    fn grow(&self, bytes: usize) -> Result<(), Bound> {
        if let Some(bound) = self.ended() {
            return Err(bound);
        }
        if self.0.add(bytes) {
            return Ok(());
        }
        relief::make_room(&self.0).inspect_err(|bound| {
            self.0.remove(bytes);
            self.0.end(*bound);
        })
    }
}

//! The body of an HTTP/1 request, which may be unread when its response begins: then hyper closes the connection, and
//! the response must say so.
//!
//! A request that is refused at once has no reader left before hyper has passed on any of its body. Such a body is kept
//! until the response begins, and what has arrived of it is discarded: a request that came whole keeps its connection.

use std::{
    mem,
    pin::Pin,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use http_body::Body;
use hyper::body::Incoming;

/// Frames that are discarded of a body.
const MAX_DISCARDED_FRAMES: usize = 16;

#[derive(Debug, Default)]
pub(super) struct UnreadBody(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    /// There is none, or it was read, or its response has begun.
    #[default]
    None,
    /// It is being read.
    Held,
    /// No reader is left.
    Left(Incoming),
}

impl UnreadBody {
    pub(super) fn begin(&self) {
        *self.lock() = State::Held;
    }

    pub(super) fn end(&self) {
        *self.lock() = State::None;
    }

    /// Keeps a body that has no reader. Behind the beginning of its response it is dropped, as hyper waits for that.
    pub(super) fn leave(&self, body: Incoming) {
        let mut state = self.lock();
        if matches!(*state, State::Held) {
            *state = State::Left(body);
        }
    }

    /// Whether the response, which begins now, precedes the end of the body.
    pub(super) fn is_answered_early(&self, cx: &mut Context<'_>) -> bool {
        match mem::take(&mut *self.lock()) {
            State::None => false,
            State::Held => true,
            State::Left(body) => !is_discarded(body, cx),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Discards what has arrived of a body. Returns whether that was all of it.
fn is_discarded(mut body: Incoming, cx: &mut Context<'_>) -> bool {
    for _ in 0..MAX_DISCARDED_FRAMES {
        if body.is_end_stream() {
            return true;
        }
        match Pin::new(&mut body).poll_frame(cx) {
            Poll::Ready(Some(Ok(_))) => {}
            Poll::Ready(None) => return true,
            Poll::Ready(Some(Err(_))) | Poll::Pending => return false,
        }
    }
    false
}

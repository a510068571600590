//! The body of a request until its first message is complete, and then the whole of it again.
//!
//! Where the message ends is for its framing to say. What its bytes mean is not looked at.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body as HttpBody, Frame};
use tokio::time::{Sleep, sleep};
use tonic::{Status, body::Body};

use super::{
    framing::{Framing, Seen, Size},
    refused::idle,
};
use crate::faces::transport::{polled_frame::PolledFrame, rules::Messages};

/// A smaller piece is put together with those beside it.
const SMALL: usize = 4 * 1024;

/// A request's body, as far as it has come.
#[derive(Debug)]
pub(super) struct Message<F> {
    body: Body,
    framing: F,
    messages: Messages,
    most: usize,
    came: VecDeque<Bytes>,
    /// Small pieces behind those, put together.
    tail: BytesMut,
    seen: Seen,
}

impl<F: Framing> Message<F> {
    /// Nothing came yet. A message of more than `most` bytes is refused.
    pub(super) fn new(headers: &HeaderMap, body: Body, messages: Messages, most: usize) -> Self {
        let (came, tail) = (VecDeque::new(), BytesMut::new());
        Self { body, framing: F::of(headers), messages, most, came, tail, seen: Seen::default() }
    }

    /// Waits until the first message is complete, and if there is to be one only, until the body has ended with it.
    pub(super) async fn complete(&mut self) -> Result<(), Box<Status>> {
        poll_fn(|cx| self.poll_until(cx, |it| it.framing.completion(it.seen, it.messages, it.most))).await
    }

    /// The same, or that the message has outgrown so many bytes.
    pub(super) async fn complete_within(&mut self, taken: usize) -> Result<bool, Box<Status>> {
        let exceeded = |it: &Self| match it.framing.completion(it.seen, it.messages, it.most)? {
            Some(()) => Ok(Some(true)),
            None => Ok(it.framing.has_outgrown(it.seen, taken).then_some(false)),
        };
        poll_fn(|cx| self.poll_until(cx, exceeded)).await
    }

    /// Waits for the length of the first message.
    pub(super) async fn length(&mut self) -> Result<usize, Box<Status>> {
        poll_fn(|cx| self.poll_until(cx, |it| Ok(it.framing.length(it.seen, it.most)))).await
    }

    pub(super) fn size(&self) -> Size {
        self.framing.size(self.seen)
    }

    /// The body from its beginning. With a bound it is an error when nothing comes for so long.
    pub(super) fn into_body(mut self, idle: Option<Duration>) -> Body {
        self.flush();
        let rest = idle.filter(|_| !self.seen.ended).map(|bound| Rest { body: self.body, bound, idle: None });
        Body::new(Again { came: self.came, rest })
    }

    fn poll_until<T>(
        &mut self,
        cx: &mut Context<'_>,
        exceeded: impl Fn(&Self) -> Result<Option<T>, Box<Status>>,
    ) -> Poll<Result<T, Box<Status>>> {
        loop {
            if let Some(exceeded) = exceeded(self).transpose() {
                return Poll::Ready(exceeded);
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.take(data);
                    }
                    self.seen.ended = self.body.is_end_stream();
                }
                Some(Err(status)) => return Poll::Ready(Err(Box::new(status))),
                None => self.seen.ended = true,
            }
        }
    }

    fn take(&mut self, data: Bytes) {
        self.framing.take(self.seen.bytes, &data);
        self.seen.bytes += data.len();
        if data.is_empty() {
            return;
        }
        // A piece costs tens of bytes beside its own: a body in pieces of one byte would take many times its length.
        if data.len() < SMALL && !self.came.is_empty() {
            self.tail.extend_from_slice(&data);
            return;
        }
        self.flush();
        self.came.push_back(data);
    }

    fn flush(&mut self) {
        if !self.tail.is_empty() {
            self.came.push_back(self.tail.split().freeze());
        }
    }
}

/// What came, then the rest.
struct Again {
    came: VecDeque<Bytes>,
    rest: Option<Rest>,
}

/// What comes yet, as long as it comes.
struct Rest {
    body: Body,
    bound: Duration,
    idle: Option<Pin<Box<Sleep>>>,
}

impl HttpBody for Again {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        if let Some(data) = self.came.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        self.rest.as_mut().map_or(Poll::Ready(None), |rest| rest.poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.came.is_empty() && self.rest.as_ref().is_none_or(|rest| rest.body.is_end_stream())
    }
}

impl Rest {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> PolledFrame<Body> {
        let Self { body, bound, idle: timer } = self;
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(cx) {
            *timer = None;
            return Poll::Ready(frame);
        }
        ready!(timer.get_or_insert_with(|| Box::pin(sleep(*bound))).as_mut().poll(cx));
        Poll::Ready(Some(Err(idle(*bound))))
    }
}

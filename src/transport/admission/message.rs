//! Buffers the body of a request until its first message is complete, and then replays it.
//!
//! The framing determines where the message ends. The content is not parsed.

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
    framing::{Framing, Progress, Size},
    refusals::stream_idle,
};
use crate::{polled_frame::PolledFrame, rules::Messages};

/// Smaller pieces are merged with their neighbours.
const SMALL: usize = 4 * 1024;

/// The received part of a request's body.
#[derive(Debug)]
pub(super) struct Message<F> {
    body: Body,
    framing: F,
    messages: Messages,
    most: usize,
    received: VecDeque<Bytes>,
    /// Merged small pieces after `received`.
    tail: BytesMut,
    progress: Progress,
}

impl<F: Framing> Message<F> {
    /// A message of more than `most` bytes is refused.
    pub(super) fn new(headers: &HeaderMap, body: Body, messages: Messages, most: usize) -> Self {
        let (received, tail) = (VecDeque::new(), BytesMut::new());
        Self { body, framing: F::of(headers), messages, most, received, tail, progress: Progress::default() }
    }

    /// Waits until the first message is complete, and for a method with a single message until the body has ended.
    pub(super) async fn complete(&mut self) -> Result<(), Box<Status>> {
        poll_fn(|cx| self.poll_until(cx, |it| it.framing.completion(it.progress, it.messages, it.most))).await
    }

    /// As [`complete`](Self::complete); returns `false` once the message exceeds `taken` bytes.
    pub(super) async fn complete_within(&mut self, taken: usize) -> Result<bool, Box<Status>> {
        let finished = |it: &Self| match it.framing.completion(it.progress, it.messages, it.most)? {
            Some(()) => Ok(Some(true)),
            None => Ok(it.framing.has_outgrown(it.progress, taken).then_some(false)),
        };
        poll_fn(|cx| self.poll_until(cx, finished)).await
    }

    /// Waits until the length of the first message is known.
    pub(super) async fn length(&mut self) -> Result<usize, Box<Status>> {
        poll_fn(|cx| self.poll_until(cx, |it| Ok(it.framing.length(it.progress, it.most)))).await
    }

    pub(super) fn size(&self) -> Size {
        self.framing.size(self.progress)
    }

    /// The body from its beginning. Of several messages the rest fails if nothing arrives for `bound`.
    pub(super) fn into_body(mut self, bound: Option<Duration>) -> Body {
        self.flush();
        let has_rest = self.messages == Messages::Many && !self.progress.ended;
        let rest = has_rest.then_some(RemainingBody { body: self.body, bound, idle: None });
        Body::new(ReplayBody { received: self.received, rest })
    }

    fn poll_until<T>(
        &mut self,
        cx: &mut Context<'_>,
        finished: impl Fn(&Self) -> Result<Option<T>, Box<Status>>,
    ) -> Poll<Result<T, Box<Status>>> {
        loop {
            if let Some(finished) = finished(self).transpose() {
                return Poll::Ready(finished);
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.push(data);
                    }
                    self.progress.ended = self.body.is_end_stream();
                }
                Some(Err(status)) => return Poll::Ready(Err(Box::new(status))),
                None => self.progress.ended = true,
            }
        }
    }

    fn push(&mut self, data: Bytes) {
        self.framing.push(self.progress.bytes, &data);
        self.progress.bytes += data.len();
        if data.is_empty() {
            return;
        }
        // Each piece has tens of bytes of overhead, so a body in pieces of one byte would take many times its length.
        if data.len() < SMALL && !self.received.is_empty() {
            self.tail.extend_from_slice(&data);
            return;
        }
        self.flush();
        self.received.push_back(data);
    }

    fn flush(&mut self) {
        if !self.tail.is_empty() {
            self.received.push_back(self.tail.split().freeze());
        }
    }
}

/// The buffered pieces, then the rest of the body.
struct ReplayBody {
    received: VecDeque<Bytes>,
    rest: Option<RemainingBody>,
}

/// The rest of the body, with a limit on idle time.
struct RemainingBody {
    body: Body,
    bound: Option<Duration>,
    idle: Option<Pin<Box<Sleep>>>,
}

impl HttpBody for ReplayBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        if let Some(data) = self.received.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
        self.rest.as_mut().map_or(Poll::Ready(None), |rest| rest.poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.received.is_empty() && self.rest.as_ref().is_none_or(|rest| rest.body.is_end_stream())
    }
}

impl RemainingBody {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> PolledFrame<Body> {
        let Self { body, bound, idle: timer } = self;
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(cx) {
            *timer = None;
            return Poll::Ready(frame);
        }
        let Some(bound) = *bound else { return Poll::Pending };
        ready!(timer.get_or_insert_with(|| Box::pin(sleep(bound))).as_mut().poll(cx));
        Poll::Ready(Some(Err(stream_idle(bound))))
    }
}

//! The body of a request until its first message is complete, and then the whole of it again.
//!
//! A gRPC message is a byte that tells whether it is compressed, its length in four bytes, and so many bytes. What
//! they mean is not looked at.

use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame};
use tokio::time::{Sleep, sleep};
use tonic::{Status, body::Body};

use super::refused::{idle, malformed, too_large};
use crate::faces::transport::rules::Messages;

/// Bytes before each message.
const HEADER: usize = 5;
/// Taking in a longer message may take longer than others should wait.
const LARGE: usize = 64 * 1024;
/// The same of one that is compressed: gzip shrinks at most a thousandfold.
const LARGE_COMPRESSED: usize = 64;

/// Whether taking a message in is much work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Small,
    Large,
}

/// A request's body, as far as it has come.
#[derive(Debug)]
pub(super) struct Message {
    body: Body,
    messages: Messages,
    most: usize,
    came: VecDeque<Bytes>,
    /// The first bytes of what came.
    header: [u8; HEADER],
    received: usize,
    ended: bool,
}

impl Message {
    /// Nothing came yet. A message of more than `most` bytes is refused.
    pub(super) fn new(body: Body, messages: Messages, most: usize) -> Self {
        let came = VecDeque::new();
        Self { body, messages, most, came, header: [0; HEADER], received: 0, ended: false }
    }

    /// Waits until the first message is complete, and if there is to be one only, until the body has ended with it.
    pub(super) async fn complete(&mut self) -> Result<(), Box<Status>> {
        poll_fn(|cx| self.poll_until(cx, Self::completion)).await
    }

    /// Waits for the length of the first message.
    pub(super) async fn length(&mut self) -> Result<usize, Box<Status>> {
        poll_fn(|cx| self.poll_until(cx, |it| Ok(it.declared().or(it.ended.then_some(0))))).await
    }

    pub(super) fn size(&self) -> Size {
        let most = if self.header[0] == 0 { LARGE } else { LARGE_COMPRESSED };
        if self.declared().is_some_and(|length| length > most) { Size::Large } else { Size::Small }
    }

    /// The body from its beginning. With a bound it is an error when nothing comes for so long.
    pub(super) fn into_body(self, idle: Option<Duration>) -> Body {
        let rest = idle.filter(|_| !self.ended).map(|bound| Rest { body: self.body, bound, idle: None });
        Body::new(Again { came: self.came, rest })
    }

    fn poll_until<T>(
        &mut self,
        cx: &mut Context<'_>,
        reached: impl Fn(&Self) -> Result<Option<T>, Box<Status>>,
    ) -> Poll<Result<T, Box<Status>>> {
        loop {
            if let Some(reached) = reached(self).transpose() {
                return Poll::Ready(reached);
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.take(data);
                    }
                    self.ended = self.body.is_end_stream();
                }
                Some(Err(status)) => return Poll::Ready(Err(Box::new(status))),
                None => self.ended = true,
            }
        }
    }

    fn take(&mut self, data: Bytes) {
        if self.received < HEADER {
            let missing = &mut self.header[self.received..];
            let length = missing.len().min(data.len());
            missing[..length].copy_from_slice(&data[..length]);
        }
        self.received += data.len();
        if !data.is_empty() {
            self.came.push_back(data);
        }
    }

    /// The length of the first message, once it is known.
    fn declared(&self) -> Option<usize> {
        let [_, length @ ..] = self.header;
        (self.received >= HEADER).then_some(u32::from_be_bytes(length) as usize)
    }

    fn completion(&self) -> Result<Option<()>, Box<Status>> {
        let refuse = |status| Err(Box::new(status));
        let Some(length) = self.declared() else {
            return match (self.ended, self.messages) {
                (false, _) => Ok(None),
                (true, Messages::Many) => Ok(Some(())),
                (true, Messages::One) => {
                    refuse(malformed("a request of this method is one message; there is none"))
                }
            };
        };
        if length > self.most {
            return refuse(too_large(length, self.most));
        }
        let whole = self.received.cmp(&(HEADER + length));
        match (self.messages, whole.is_lt(), whole.is_gt()) {
            (_, true, _) if self.ended => refuse(malformed("the request ends within its message")),
            (_, true, _) => Ok(None),
            (Messages::One, _, true) => {
                refuse(malformed("a request of this method is one message; there is more than one"))
            }
            (Messages::One, ..) => Ok(self.ended.then_some(())),
            (Messages::Many, ..) => Ok(Some(())),
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

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
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
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Self { body, bound, idle: timer } = self;
        if let Poll::Ready(frame) = Pin::new(body).poll_frame(cx) {
            *timer = None;
            return Poll::Ready(frame);
        }
        ready!(timer.get_or_insert_with(|| Box::pin(sleep(*bound))).as_mut().poll(cx));
        Poll::Ready(Some(Err(idle(*bound))))
    }
}

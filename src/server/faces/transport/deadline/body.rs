//! A response body that ends by the deadline, with `DEADLINE_EXCEEDED` in its trailers.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use http_body::{Body as HttpBody, Frame};
use pin_project_lite::pin_project;

use super::{exceeded::exceeded, timer::Timer};
use crate::faces::transport::{polled_frame::PolledFrame, refusal};

pin_project! {
    /// The body below, until it ends or the deadline passes; then nothing.
    #[derive(Debug)]
    pub(in super::super) struct Body<B> {
        #[pin]
        inner: Option<B>,
        timer: Timer,
    }
}

impl<B> Body<B> {
    pub(super) fn new(inner: B, timer: Timer) -> Self {
        Self { inner: Some(inner), timer }
    }
}

impl<B> Default for Body<B> {
    fn default() -> Self {
        Self { inner: None, timer: Timer::default() }
    }
}

impl<B: HttpBody> HttpBody for Body<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let mut this = self.project();
        let Some(inner) = this.inner.as_mut().as_pin_mut() else { return Poll::Ready(None) };
        // The clock, not only the timer: a producer that is always ready never waits for one.
        let is_past = this.timer.is_past();
        match inner.poll_frame(cx) {
            // A body that has sent its trailers ends normally.
            Poll::Ready(frame) if !is_past || is_end(frame.as_ref()) => {
                this.timer.gave();
                return Poll::Ready(frame);
            }
            Poll::Pending if !is_past => {
                this.timer.caught_up();
                ready!(this.timer.poll(cx));
            }
            Poll::Ready(_) | Poll::Pending => {}
        }
        this.inner.set(None);
        Poll::Ready(Some(Ok(Frame::trailers(refusal::trailers(&exceeded())))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }
}

fn is_end<D, E>(frame: Option<&Result<Frame<D>, E>>) -> bool {
    frame.is_none_or(|frame| frame.as_ref().is_ok_and(Frame::is_trailers))
}

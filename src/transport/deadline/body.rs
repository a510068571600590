//! A response body that ends at the deadline, with `DEADLINE_EXCEEDED` in its trailers.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use http_body::{Body as HttpBody, Frame};
use pin_project_lite::pin_project;

use super::{status::deadline_exceeded, timer::Timer};
use crate::{polled_frame::PolledFrame, refusal};

pin_project! {
    /// The inner body until its end or the deadline.
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
        // Reads the clock and not only the timer: with a body that is always ready, the timer is never polled.
        let is_past = this.timer.is_past();
        match inner.poll_frame(cx) {
            // A body that has sent its trailers ends normally.
            Poll::Ready(frame) if !is_past || is_end(frame.as_ref()) => {
                this.timer.start_stall();
                return Poll::Ready(frame);
            }
            Poll::Pending if !is_past => {
                this.timer.clear_stall();
                ready!(this.timer.poll(cx));
            }
            Poll::Ready(_) | Poll::Pending => {}
        }
        this.inner.set(None);
        Poll::Ready(Some(Ok(Frame::trailers(refusal::trailers(&deadline_exceeded())))))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }
}

fn is_end<D, E>(frame: Option<&Result<Frame<D>, E>>) -> bool {
    frame.is_none_or(|frame| frame.as_ref().is_ok_and(Frame::is_trailers))
}

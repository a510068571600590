//! Splits large DATA frames for HTTP/2, so that a slow reader's backlog stays in the body.
//!
//! hyper passes a whole frame to HTTP/2 as soon as the window has one free byte. A message of 3 MiB would then be
//! buffered in the connection, beyond every permit and deadline. Split, its rest stays here and is freed with the
//! stream. Each piece takes its part of the permit along, until the connection has written it.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;

use super::{polled_frame::PolledFrame, stream};
use toolwire_base::backlog::{self, Permit};

/// The default maximum size of an HTTP/2 frame.
const PIECE: usize = 16 * 1024;

pin_project! {
    /// The inner body in pieces of at most 16 KiB.
    #[derive(Debug)]
    pub(super) struct Body<B> {
        #[pin]
        inner: B,
        rest: Bytes,
        permit: Option<Permit>,
        backlog: DetachOnDrop,
    }
}

/// What waits for the peer of the response. Its drop detaches the task of the stream.
#[derive(Debug)]
struct DetachOnDrop(Option<backlog::Stream>);

impl Drop for DetachOnDrop {
    fn drop(&mut self) {
        if let Some(backlog) = &self.0 {
            backlog.detach();
        }
    }
}

/// A part of a frame, with its permit.
#[derive(Debug)]
pub(super) struct Piece {
    bytes: Bytes,
    _permit: Option<Permit>,
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
    }

    fn copy_to_bytes(&mut self, length: usize) -> Bytes {
        self.bytes.copy_to_bytes(length)
    }
}

impl<B> Body<B> {
    /// The body of the response of the current stream.
    pub(super) fn new(inner: B) -> Self {
        Self { inner, rest: Bytes::new(), permit: None, backlog: DetachOnDrop(stream::backlog()) }
    }
}

impl<B: HttpBody<Data = Bytes>> HttpBody for Body<B> {
    type Data = Piece;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let this = self.project();
        if this.rest.is_empty() {
            match ready!(this.inner.poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => {
                        *this.permit = this.backlog.0.as_ref().map(|it| it.take_up(data.len()));
                        *this.rest = data;
                    }
                    Err(other) => {
                        let other = other.into_trailers().unwrap_or_default();
                        return Poll::Ready(Some(Ok(Frame::trailers(other))));
                    }
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let bytes = this.rest.split_to(this.rest.len().min(PIECE));
        let permit = this.permit.as_mut().map(|permit| permit.split(bytes.len()));
        Poll::Ready(Some(Ok(Frame::data(Piece { bytes, _permit: permit }))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let mut hint = self.inner.size_hint();
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + rest);
        }
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Full};

    use super::*;

    #[tokio::test]
    async fn a_large_frame_comes_in_pieces() {
        let bytes: Bytes = (0..=PIECE * 2).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let mut body = Body::new(Full::new(bytes.clone()));
        let mut pieces = Vec::new();
        while let Some(frame) = body.frame().await {
            pieces.push(frame.unwrap().into_data().unwrap());
        }
        assert_eq!(pieces.iter().map(Buf::remaining).collect::<Vec<_>>(), [PIECE, PIECE, 1]);
        let pieces: Vec<_> = pieces.into_iter().map(|it| it.bytes).collect();
        assert_eq!(pieces.concat(), bytes);
        assert!(body.is_end_stream());
    }
}

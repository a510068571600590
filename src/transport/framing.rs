//! Rejects HTTP/1 requests with ambiguous message framing, which allow request smuggling, before hyper parses them.
//!
//! hyper accepts lines that end with a bare LF, and removes a `Content-Length` beside a `Transfer-Encoding` before any
//! service sees it (RFC 9112 §2.2, §6.1, §6.3). A proxy in front of this server may parse such a request as two. This
//! stream parses only what delimits messages: line ends, the two headers, and chunk sizes. It skips the content of
//! bodies, and leaves every other syntax error to hyper.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use self::message::{Malformed, Position};
use super::write_half::write_to_stream;

mod message;

/// Replaces the rest of a head that is rejected: at every position of a head hyper answers it with 400 and closes.
const INVALID: &[u8] = b"\0\r\n\r\n";

/// A stream that ends at the first request with ambiguous framing. Writes are passed on.
#[derive(Debug)]
pub struct StrictFraming<S> {
    stream: S,
    state: State,
}

#[derive(Debug)]
enum State {
    Reading(Position),
    /// A head was rejected: the bytes of [`INVALID`] that are still to be read, then the end of the stream.
    InvalidHead(&'static [u8]),
    InvalidBody(Malformed),
}

impl<S> StrictFraming<S> {
    pub fn new(stream: S) -> Self {
        Self { stream, state: State::Reading(Position::default()) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StrictFraming<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { stream, state } = &mut *self;
        if let State::Reading(position) = state {
            let before = buffer.filled().len();
            ready!(Pin::new(stream).poll_read(cx, buffer))?;
            let Err((valid, malformed)) = position.advance(&buffer.filled()[before..]) else {
                return Poll::Ready(Ok(()));
            };
            buffer.set_filled(before + valid);
            *state = if position.is_in_head() {
                State::InvalidHead(INVALID)
            } else {
                State::InvalidBody(malformed)
            };
            // A read of 0 bytes would signal the end of the stream.
            if valid > 0 {
                return Poll::Ready(Ok(()));
            }
        }
        match state {
            State::InvalidHead(rest) => {
                let (now, later) = rest.split_at(rest.len().min(buffer.remaining()));
                buffer.put_slice(now);
                *rest = later;
                Poll::Ready(Ok(()))
            }
            State::InvalidBody(malformed) => {
                Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, *malformed)))
            }
            State::Reading(_) => unreachable!("the state was changed above"),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StrictFraming<S> {
    write_to_stream!();

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

//! A stream that records when bytes arrive, and that lingers on shutdown so that its peer can read the last response.
//!
//! Closing a socket with unread input resets it, and the peer may lose the last response: for example that its request
//! is too large, of which it still sends the rest. So input is read and discarded for a short time after it.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep_until},
};

use super::Requests;
use crate::write_half::write_to_stream;

/// Maximum time and bytes of input after the last response.
const LINGER: Duration = Duration::from_secs(2);
const MAX_DISCARDED: usize = 4 * 1024 * 1024;
/// Bytes per read.
const PIECE: usize = 4 * 1024;

#[derive(Debug)]
pub(in super::super) struct LingeringClose<S> {
    stream: S,
    requests: Arc<Requests>,
    linger: Option<Linger>,
}

#[derive(Debug)]
struct Linger {
    until: Pin<Box<Sleep>>,
    left: usize,
}

impl<S> LingeringClose<S> {
    /// A stream from which some bytes have been read.
    pub(in super::super) fn new(stream: S, requests: Arc<Requests>) -> Self {
        requests.record_bytes();
        Self { stream, requests, linger: None }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LingeringClose<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            self.requests.record_bytes();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for LingeringClose<S> {
    write_to_stream!();

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, requests, linger } = self.get_mut();
        if linger.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
        }
        let linger = linger.get_or_insert_with(|| Linger {
            until: Box::pin(sleep_until(requests.read_by(LINGER))),
            left: MAX_DISCARDED,
        });
        linger.poll(stream, cx)
    }
}

impl Linger {
    /// Ready when the peer has closed its side or the limits are reached. Errors are ignored: the response was sent.
    fn poll(&mut self, stream: &mut (impl AsyncRead + Unpin), cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut piece = [0; PIECE];
        while self.left > 0 && self.until.as_mut().poll(cx).is_pending() {
            let mut buffer = ReadBuf::new(&mut piece);
            match ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => {
                    self.left = self.left.saturating_sub(buffer.filled().len());
                }
                _ => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}

//! A stream that records when bytes arrive, and that shuts down so that its peer can read the last answer.
//!
//! To close a socket with input that nobody read resets it, and the peer may lose what it was told: that its request is
//! too large, say, of which it still sends the rest. So what still comes is read for a moment.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

use super::Requests;
use crate::faces::transport::write_half::write_to_stream;

/// How long and how much is read after the last answer.
const LINGER: Duration = Duration::from_secs(2);
const MOST: usize = 4 * 1024 * 1024;
/// Read at once of that.
const PIECE: usize = 4 * 1024;

#[derive(Debug)]
pub(in super::super) struct LingeringClose<S> {
    stream: S,
    requests: Arc<Requests>,
    ending: Option<Ending>,
}

/// The input after the last answer.
#[derive(Debug)]
struct Ending {
    until: Pin<Box<Sleep>>,
    left: usize,
}

impl<S> LingeringClose<S> {
    /// A stream of which some bytes were read already.
    pub(in super::super) fn new(stream: S, requests: Arc<Requests>) -> Self {
        requests.heard();
        Self { stream, requests, ending: None }
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
            self.requests.heard();
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for LingeringClose<S> {
    write_to_stream!();

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { stream, ending, .. } = self.get_mut();
        if ending.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(cx))?;
        }
        let ending = ending.get_or_insert_with(|| Ending { until: Box::pin(sleep(LINGER)), left: MOST });
        ending.poll(stream, cx)
    }
}

impl Ending {
    /// Ready when the peer has ended too, or has had its time. What goes wrong now is its own affair.
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

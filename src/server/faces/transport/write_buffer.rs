//! What a connection writes leaves at the end of its turn.
//!
//! h2 writes each piece of 256 bytes or more by itself, and each write to a socket is a system call. Here the writes
//! of one turn are gathered, and leave together when the connection has answered everything that was ready. A
//! connection with nothing to write keeps no memory for it.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes, BytesMut};
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a connection may have written before its peer takes it: so much has left the streams, with their permits and
/// deadlines, though it has not arrived.
const MOST: usize = 32 * 1024;

/// What is asked of the allocator at once: the answers of a turn.
const USUAL: usize = 8 * 1024;

/// A stream whose first bytes were read already and are read again, and whose writes leave at the end of a turn.
#[derive(Debug)]
pub(super) struct Io<S>(Arc<Mutex<Buffered<S>>>);

pin_project! {
    /// The work of a connection on its [`Io`], and after each of its turns the writes of that turn.
    #[derive(Debug)]
    pub(super) struct Turns<S, F> {
        io: Io<S>,
        #[pin]
        work: F,
    }
}

#[derive(Debug)]
struct Buffered<S> {
    stream: S,
    unread: Bytes,
    unwritten: BytesMut,
    /// Whether the stream keeps nothing back, as one that encrypts may.
    is_flushed: bool,
    /// Why what was accepted could not be written, until it is told.
    failed: Option<io::Error>,
}

impl<S> Io<S> {
    /// A stream of which `unread` was read already, and to which nothing was written.
    fn new(stream: S, unread: Bytes) -> Self {
        let unwritten = BytesMut::new();
        Self(Arc::new(Mutex::new(Buffered { stream, unread, unwritten, is_flushed: true, failed: None })))
    }

    fn lock(&self) -> MutexGuard<'_, Buffered<S>> {
        // Nobody waits: one task has both ends.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S, F> Turns<S, F> {
    /// The work that `begin` makes of a stream, of which `unread` was read already.
    pub(super) fn new(stream: S, unread: Bytes, begin: impl FnOnce(Io<S>) -> F) -> Self {
        let io = Io::new(stream, unread);
        Self { work: begin(Io(Arc::clone(&io.0))), io }
    }
}

impl<S: AsyncWrite + Unpin, F: Future> Future for Turns<S, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let output = this.work.poll(cx);
        let mut io = this.io.lock();
        if let Poll::Ready(Err(error)) = io.drain(cx) {
            io.failed = Some(error);
            cx.waker().wake_by_ref();
        }
        output
    }
}

impl<S: AsyncWrite + Unpin> Buffered<S> {
    /// Writes what there is.
    fn drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.is_flushed {
            return Poll::Ready(Ok(()));
        }
        while self.unwritten.has_remaining() {
            let written = ready!(Pin::new(&mut self.stream).poll_write(cx, &self.unwritten))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.unwritten.advance(written);
        }
        self.unwritten = BytesMut::new();
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.is_flushed = true;
        Poll::Ready(Ok(()))
    }

    /// How much may be added now.
    fn room(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.tell_failure()?;
        if self.unwritten.len() >= MOST
            && let Poll::Ready(drained) = self.drain(cx)
        {
            drained?;
        }
        match MOST.saturating_sub(self.unwritten.len()) {
            // Woken by the stream, which could not take everything.
            0 => Poll::Pending,
            room => Poll::Ready(Ok(room)),
        }
    }

    /// Takes what there is room for.
    fn add(&mut self, bytes: &[u8], room: usize) -> usize {
        if self.unwritten.capacity() == 0 {
            self.unwritten.reserve(USUAL);
        }
        let taken = bytes.len().min(room);
        self.is_flushed = false;
        self.unwritten.extend_from_slice(&bytes[..taken]);
        taken
    }

    fn tell_failure(&mut self) -> io::Result<()> {
        self.failed.take().map_or(Ok(()), Err)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Io<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut io = self.lock();
        io.tell_failure()?;
        if io.unread.has_remaining() {
            let some = io.unread.remaining().min(buffer.remaining());
            buffer.put_slice(&io.unread.chunk()[..some]);
            io.unread.advance(some);
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut io.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Io<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut io = self.lock();
        let room = ready!(io.room(cx))?;
        Poll::Ready(Ok(io.add(bytes, room)))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut io = self.lock();
        let room = ready!(io.room(cx))?;
        let taken = parts.iter().fold(0, |taken, part| taken + io.add(part, room - taken));
        Poll::Ready(Ok(taken))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Writes nothing: [`Turns`] does when the turn has ended, and `poll_shutdown` before the stream does.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.lock().tell_failure())
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut io = self.lock();
        ready!(io.drain(cx))?;
        Pin::new(&mut io.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;

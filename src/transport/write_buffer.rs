//! Buffers the writes of a connection and flushes them after each poll.
//!
//! h2 writes each piece of 256 bytes or more separately, and each write to a socket is a system call. Here the writes
//! of one poll are buffered, and flushed together when the connection has processed everything that was ready. A
//! connection without pending writes has no buffer. What the peer does not take counts in its backlog.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes, BytesMut};
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::peer::Peer;
use toolwire_base::backlog::{self, Permit};

/// Maximum size of the buffer in bytes. Buffered data has left its stream, and with it permits and deadlines.
const MAX_BUFFERED: usize = 32 * 1024;

/// Maximum of what TLS buffers of it in turn (rustls' default).
const MAX_ENCRYPTED: usize = 64 * 1024;

/// Initial capacity of the buffer: the responses of a typical poll.
const INITIAL_CAPACITY: usize = 8 * 1024;

/// A stream that replays bytes that were already read, and buffers writes until the end of a poll.
#[derive(Debug)]
pub(super) struct Io<S>(Arc<Mutex<WriteBuffer<S>>>);

pin_project! {
    /// The future of a connection on its [`Io`], whose buffered writes are flushed after each poll.
    #[derive(Debug)]
    pub(super) struct FlushAfterPoll<S, F> {
        io: Io<S>,
        #[pin]
        work: F,
        backlog: Option<backlog::Connection>,
        // For what is buffered since the last poll.
        permit: Option<Permit>,
        is_encrypted: bool,
    }
}

#[derive(Debug)]
struct WriteBuffer<S> {
    stream: S,
    unread: Bytes,
    unwritten: BytesMut,
    /// Bytes that the stream has taken since it was flushed.
    unflushed: usize,
    /// Whether the stream itself is flushed: TLS may buffer data too.
    is_flushed: bool,
    /// The error of a failed flush, until a read or write returns it.
    error: Option<io::Error>,
}

impl<S> Io<S> {
    /// `unread` are the bytes that were already read.
    fn new(stream: S, unread: Bytes) -> Self {
        let unwritten = BytesMut::new();
        Self(Arc::new(Mutex::new(WriteBuffer {
            stream,
            unread,
            unwritten,
            unflushed: 0,
            is_flushed: true,
            error: None,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, WriteBuffer<S>> {
        // Never contended: one task owns both ends.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S, F> FlushAfterPoll<S, F> {
    /// Creates the future by `begin` from a stream; `unread` are the bytes that were already read.
    pub(super) fn new(stream: S, unread: Bytes, begin: impl FnOnce(Io<S>) -> F) -> Self {
        let io = Io::new(stream, unread);
        let work = begin(Io(Arc::clone(&io.0)));
        Self { work, io, backlog: None, permit: None, is_encrypted: false }
    }

    /// Counts what is buffered in the backlog of the peer.
    pub(super) fn counted_for(self, peer: &Peer) -> Self {
        Self { backlog: Some(peer.state.backlog.clone()), is_encrypted: peer.is_encrypted, ..self }
    }
}

impl<S: AsyncWrite + Unpin, F: Future> Future for FlushAfterPoll<S, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let output = this.work.poll(cx);
        let mut io = this.io.lock();
        match io.drain(cx) {
            Poll::Ready(Ok(())) => io.unwritten = BytesMut::new(),
            Poll::Ready(Err(error)) => {
                io.error = Some(error);
                cx.waker().wake_by_ref();
            }
            Poll::Pending => {}
        }
        count(io.buffered(*this.is_encrypted), this.backlog.as_ref(), this.permit);
        output
    }
}

/// Sets the permit to what is buffered. Mostly that is nothing.
fn count(bytes: usize, backlog: Option<&backlog::Connection>, permit: &mut Option<Permit>) {
    match permit {
        Some(_) if bytes == 0 => *permit = None,
        Some(permit) => permit.resize(bytes),
        None if bytes == 0 => {}
        None => *permit = backlog.map(|it| it.buffer().count(bytes)),
    }
}

impl<S> WriteBuffer<S> {
    /// The bytes that wait here, and in TLS below.
    fn buffered(&self, is_encrypted: bool) -> usize {
        let encrypted = if is_encrypted { self.unflushed.min(MAX_ENCRYPTED) } else { 0 };
        self.unwritten.len() + encrypted
    }
}

impl<S: AsyncWrite + Unpin> WriteBuffer<S> {
    /// Writes and flushes what is buffered. Within a poll the buffer is kept for what follows: most responses that fill
    /// it are several times as large.
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
            self.unflushed += written;
        }
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.unflushed = 0;
        self.is_flushed = true;
        Poll::Ready(Ok(()))
    }

    /// The free capacity of the buffer; pending while there is none.
    fn poll_capacity(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        self.take_error()?;
        if self.unwritten.len() >= MAX_BUFFERED
            && let Poll::Ready(drained) = self.drain(cx)
        {
            drained?;
        }
        match MAX_BUFFERED.saturating_sub(self.unwritten.len()) {
            // The stream wakes the task: its write was pending.
            0 => Poll::Pending,
            capacity => Poll::Ready(Ok(capacity)),
        }
    }

    /// Appends as many bytes as fit into `capacity`, and returns their number.
    fn add(&mut self, bytes: &[u8], capacity: usize) -> usize {
        if self.unwritten.capacity() == 0 {
            self.unwritten.reserve(INITIAL_CAPACITY);
        }
        let taken = bytes.len().min(capacity);
        self.is_flushed = false;
        self.unwritten.extend_from_slice(&bytes[..taken]);
        taken
    }

    fn take_error(&mut self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Io<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut io = self.lock();
        io.take_error()?;
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
        let capacity = ready!(io.poll_capacity(cx))?;
        Poll::Ready(Ok(io.add(bytes, capacity)))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut io = self.lock();
        let capacity = ready!(io.poll_capacity(cx))?;
        let taken = parts.iter().fold(0, |taken, part| taken + io.add(part, capacity - taken));
        Poll::Ready(Ok(taken))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Does not flush: [`FlushAfterPoll`] does so after the poll, and `poll_shutdown` before it shuts the stream down.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.lock().take_error())
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut io = self.lock();
        ready!(io.drain(cx))?;
        Pin::new(&mut io.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;

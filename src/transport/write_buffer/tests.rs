//! No data is lost or delayed beyond a poll, and errors are returned.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use futures_util::FutureExt;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::*;

/// A pipe that fails to flush at first, as one that encrypts may.
struct Encrypting {
    inner: DuplexStream,
    was_asked: AtomicBool,
}

impl AsyncWrite for Encrypting {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.was_asked.swap(true, SeqCst) {
            return Poll::Ready(Ok(()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[tokio::test]
async fn what_was_read_is_read_again_and_then_what_follows() {
    let (mut peer, stream) = duplex(64);
    peer.write_all(b" world").await.unwrap();
    drop(peer);
    let mut text = String::new();
    Io::new(stream, Bytes::from_static(b"hello")).read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "hello world");
}

#[tokio::test]
async fn writes_leave_at_the_end_of_the_turn_and_not_before() {
    let (mut peer, stream) = duplex(64);
    let work = FlushAfterPoll::new(stream, Bytes::new(), |mut io| async move {
        for part in ["ab", "cd"] {
            io.write_all(part.as_bytes()).await.unwrap();
            io.flush().await.unwrap();
            assert!(peer.read_u8().now_or_never().is_none());
        }
        tokio::task::yield_now().await;
        let mut seen = [0; 4];
        peer.read_exact(&mut seen).await.unwrap();
        seen
    });
    assert_eq!(&work.await, b"abcd");
}

#[tokio::test]
async fn more_than_the_peer_takes_waits_within_bounds_and_arrives_whole() {
    let (mut peer, stream) = duplex(1_000);
    let sent: Vec<u8> = (0..1_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    let expected = sent.clone();
    let work = FlushAfterPoll::new(stream, Bytes::new(), |mut io| async move {
        for part in sent.chunks(7_777) {
            io.write_all(part).await.unwrap();
            assert!(io.lock().unwritten.len() <= MAX_BUFFERED);
        }
        io.shutdown().await.unwrap();
    });
    let writing = tokio::spawn(work);
    let mut received = Vec::new();
    peer.read_to_end(&mut received).await.unwrap();
    writing.await.unwrap();
    assert!(received == expected);
}

#[tokio::test]
async fn a_stream_that_keeps_something_back_is_flushed_until_it_does_not() {
    let (_peer, inner) = duplex(64);
    let stream = Encrypting { inner, was_asked: AtomicBool::new(false) };
    let work = FlushAfterPoll::new(stream, Bytes::new(), |mut io| async move {
        io.write_all(b"x").await.unwrap();
        std::future::pending::<()>().await;
    });
    let buffered = Io(Arc::clone(&work.io.0));
    let mut work = std::pin::pin!(work);
    let is_flushed = || buffered.lock().is_flushed;
    assert!(futures_util::poll!(&mut work).is_pending() && !is_flushed());
    assert!(futures_util::poll!(&mut work).is_pending() && is_flushed());
}

#[tokio::test]
async fn the_work_is_told_that_what_it_wrote_is_lost() {
    let (peer, stream) = duplex(64);
    drop(peer);
    let work = FlushAfterPoll::new(stream, Bytes::new(), |mut io| async move {
        io.write_all(b"x").await.unwrap();
        tokio::task::yield_now().await;
        io.read_u8().await.unwrap_err().kind()
    });
    assert_eq!(work.await, io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn a_connection_with_nothing_to_write_keeps_no_memory_for_it() {
    let (_peer, stream) = duplex(64);
    let work =
        FlushAfterPoll::new(stream, Bytes::new(), |mut io| async move { io.write_all(b"x").await.unwrap() });
    let buffered = Io(Arc::clone(&work.io.0));
    work.await;
    assert_eq!(buffered.lock().unwritten.capacity(), 0);
}

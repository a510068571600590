//! The number of writes of a connection.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    pin::Pin,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::future::join_all;
use http::{Request, Response};
use http_body_util::Full;
use tokio::io::{DuplexStream, ReadBuf};
use tonic::body::Body;

use super::*;
use toolwire_base::backlog::Backlog;

/// Concurrent requests, and the number of repetitions.
const STREAMS: usize = 16;
const ROUNDS: usize = 50;

/// A stream that counts its writes, each of which is a system call on a socket.
struct Counting {
    inner: DuplexStream,
    writes: Arc<AtomicUsize>,
}

impl AsyncRead for Counting {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Counting {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.writes.fetch_add(1, Relaxed);
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writes.fetch_add(1, Relaxed);
        Pin::new(&mut self.inner).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// The usual length of a tool's answer, longer than HTTP/2 buffers by itself.
fn answer(_: Request<Body>) -> Ready<Result<Response<Body>, Infallible>> {
    ready(Ok(Response::new(Body::new(Full::new(Bytes::from_static(&[b'x'; 1_200]))))))
}

/// One worker, as on one processor: the tasks that it wakes wait in its own queue.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_answers_of_streams_that_are_ready_leave_together() {
    let (client, server) = tokio::io::duplex(1 << 20);
    let writes = Arc::new(AtomicUsize::new(0));
    let address = "127.0.0.1:1".parse().unwrap();
    let connection = Connection {
        address,
        service: tower::service_fn(answer),
        config: Arc::default(),
        tls: None,
        signals: Arc::default(),
        state: Arc::new(ConnectionState::new(None, clock::now(), Backlog::default().connection())),
        certified: None,
    };
    let counting = Counting { inner: server, writes: Arc::clone(&writes) };
    let by = clock::now() + Duration::from_secs(10);
    tokio::spawn(connection.serve_by_preface(counting, by));
    let asked = tokio::spawn(async move {
        let (mut requests, connection) = h2::client::handshake(client).await.unwrap();
        tokio::spawn(connection);
        for _ in 0..ROUNDS {
            requests = requests.ready().await.unwrap();
            let answers = (0..STREAMS).map(|_| {
                let request = Request::post("http://localhost/toys.v1.ToyService/Play").body(()).unwrap();
                requests.send_request(request, true).unwrap().0
            });
            for answer in join_all(answers.collect::<Vec<_>>()).await {
                answer.unwrap();
            }
        }
    });
    asked.await.unwrap();
    let (writes, answers) = (writes.load(Relaxed), STREAMS * ROUNDS);
    assert!(writes * 5 <= answers, "{writes} writes for {answers} answers");
}

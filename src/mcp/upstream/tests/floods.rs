//! What serves no call is read at a bounded rate.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use rmcp::transport::Transport as _;
use tokio::{
    io::{AsyncRead, ReadBuf},
    time::timeout,
};

use crate::upstream::{
    bounds::{DISCARD_BURST, DISCARD_RATE},
    lines::Lines,
    tap::Shared,
};

/// The same line for ever.
struct Flood {
    line: &'static [u8],
    read: Arc<AtomicUsize>,
}

impl AsyncRead for Flood {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let room = buffer.remaining();
        for _ in 0..room / self.line.len() {
            buffer.put_slice(self.line);
        }
        self.read.fetch_add(room / self.line.len() * self.line.len(), Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_floods_its_output_is_slowed_down() {
    let nonsense = [
        &b"what is no message, but is written to the output all the same, as debug output is by some programs\n"[..],
        b"{\"jsonrpc\":\"2.0\",\"id\":7000,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"nobody asked\"}]}}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n",
    ];
    for line in nonsense {
        let read = Arc::<AtomicUsize>::default();
        let flood = Flood { line, read: Arc::clone(&read) };
        let mut lines = Lines::new(flood, tokio::io::sink(), Shared::new());
        let length = Duration::from_secs(4);
        let reading = async { while lines.receive().await.is_some() {} };
        assert!(timeout(length, reading).await.is_err(), "it goes on");
        let most = (length + DISCARD_BURST).as_secs_f64() * DISCARD_RATE;
        #[allow(clippy::cast_precision_loss, reason = "some megabytes")]
        let read = read.load(Ordering::Relaxed) as f64;
        assert!(read < most * 1.01, "{read} of {most}");
    }
}

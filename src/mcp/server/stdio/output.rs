//! The output of a client, which may not read it.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncWrite, AsyncWriteExt},
    select,
    sync::Mutex,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

/// How long a client may take for a line after the end of its input.
const UNREAD: Duration = Duration::from_secs(5);

/// Writes lines, one at a time and whole.
#[derive(Debug)]
pub(super) struct Output<W> {
    writer: Mutex<Writer<W>>,
    ended: CancellationToken,
}

#[derive(Debug)]
struct Writer<W> {
    inner: W,
    /// Whether a line could not be written: those after it are not either.
    is_abandoned: bool,
}

impl<W: AsyncWrite + Unpin> Output<W> {
    /// `ended` is cancelled when the input ends.
    pub(super) fn new(inner: W, ended: CancellationToken) -> Self {
        Self { writer: Mutex::new(Writer { inner, is_abandoned: false }), ended }
    }

    pub(super) async fn write(&self, mut line: String) -> io::Result<()> {
        line.push('\n');
        let mut writer = self.writer.lock().await;
        if writer.is_abandoned {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        // Unless it is written whole, also where this future is dropped.
        writer.is_abandoned = true;
        select! {
            written = write_line(&mut writer.inner, &line) => written?,
            () = self.unread() => {
                tracing::warn!("the input has ended and the output is not read: answers are dropped");
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
        writer.is_abandoned = false;
        Ok(())
    }

    pub(super) async fn close(&self) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        // What is abandoned may block for ever.
        if writer.is_abandoned { Ok(()) } else { writer.inner.flush().await }
    }

    async fn unread(&self) {
        self.ended.cancelled().await;
        sleep(UNREAD).await;
    }
}

async fn write_line(output: &mut (impl AsyncWrite + Unpin), line: &str) -> io::Result<()> {
    output.write_all(line.as_bytes()).await?;
    output.flush().await
}

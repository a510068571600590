//! The face over standard input and output, or any two streams: a message on each line.

mod lines;
mod open;
mod output;
mod reader;
#[cfg(test)]
mod tests;

use std::{pin::pin, time::Duration};

use rmcp::service::ServiceExt;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::sleep,
};

use self::lines::Lines;
use super::handler::Handler;

/// How long calls may still be answered at the end of input: its client may have written all its requests at once.
const GRACE: Duration = Duration::from_secs(1);

/// Serves one client until its input ends, or [`Handler::end_of_input`] is cancelled. Then no call begins. Those under
/// way have a grace period; after it, once the writes that have begun are answered, the reads are cancelled.
pub async fn serve<R, W>(handler: Handler, input: R, output: W)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (ended, writes) = (handler.end_of_input(), handler.shared.writes.clone());
    let lines = Lines::new(input, output, ended.clone());
    let Ok(running) = handler.serve(lines).await else { return };
    let stop = running.cancellation_token();
    let mut end = pin!(running.waiting());
    let grace = async {
        ended.cancelled().await;
        sleep(GRACE).await;
        // Bounded by the deadline of each, and by what executes them: its forced end answers them.
        writes.close();
        writes.wait().await;
    };
    tokio::select! {
        _ = &mut end => {}
        () = grace => {
            stop.cancel();
            let _ = end.await;
        }
    }
}

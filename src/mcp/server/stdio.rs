//! The face over standard input and output, or any two streams: a message on each line.

mod lines;

use std::{pin::pin, time::Duration};

use rmcp::{ServerHandler, service::ServiceExt};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use self::lines::Lines;
use super::handler::Handler;

/// How long calls may still be answered at the end of input: its client may have written all its requests at once.
const GRACE: Duration = Duration::from_secs(1);

/// Serves one client until its input ends. Then no call begins, and those under way are left: reads stop, and writes
/// that have begun go on by themselves.
pub async fn serve<R, W>(handler: Handler, input: R, output: W)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let ended = handler.drain.clone();
    serve_by(handler, input, output, ended).await;
}

/// The same by any handler of the protocol. The token is cancelled when the input ends.
pub async fn serve_by<H, R, W>(handler: H, input: R, output: W, ended: CancellationToken)
where
    H: ServerHandler,
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let lines = Lines::new(input, output, ended.clone());
    let Ok(running) = handler.serve(lines).await else { return };
    let stop = running.cancellation_token();
    let mut end = pin!(running.waiting());
    let grace = async {
        ended.cancelled().await;
        sleep(GRACE).await;
    };
    tokio::select! {
        _ = &mut end => {}
        () = grace => {
            stop.cancel();
            let _ = end.await;
        }
    }
}

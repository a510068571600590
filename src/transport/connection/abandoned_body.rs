//! The body of an HTTP/2 request that is answered before it was read to its end.
//!
//! hyper resets the stream of such a request behind its response. Clients that are still sending, such as curl, then
//! report a failed stream and not the response. So what remains of a body of a stated length is read and discarded
//! before the response begins, within bounds.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{
    Request,
    header::{CONTENT_LENGTH, EXPECT},
};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;

/// Maximum stated length in bytes.
const MAX_LENGTH: u64 = 4 * 1024 * 1024;

/// Maximum delay of the response.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// Holds the body once its reader has dropped it.
#[derive(Debug, Clone, Default)]
pub(super) struct AbandonedBody(Arc<Mutex<Option<Incoming>>>);

impl AbandonedBody {
    /// `None` for a request whose rest is not awaited: its length is unknown, as that of gRPC calls, or exceeds the
    /// bound, or the client waits for the response before it sends the body.
    pub(super) fn of(request: &Request<Incoming>) -> Option<Self> {
        let length: u64 = request.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()?;
        let is_awaited = (1..=MAX_LENGTH).contains(&length) && !request.headers().contains_key(EXPECT);
        is_awaited.then(Self::default)
    }

    pub(super) fn keep(&self, body: Incoming) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
    }

    /// Takes the body. `None` if it was read to its end, or still has a reader.
    pub(super) fn take(self) -> Option<Incoming> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Reads and discards what remains of a body.
pub(super) async fn discard(mut body: Incoming) {
    // At an error the stream has ended already.
    let _ = timeout(MAX_DELAY, async { while let Some(Ok(_)) = body.frame().await {} }).await;
}

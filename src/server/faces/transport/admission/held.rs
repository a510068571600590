//! The answer's body, which holds the request's share until it has ended or is dropped.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures_util::future::BoxFuture;
use http_body::{Body as HttpBody, SizeHint};
use pin_project_lite::pin_project;

use crate::faces::transport::{
    polled_frame::PolledFrame,
    quotas::{Principal, Share},
};
use toolwire_base::{
    fair_semaphore::{FairSemaphore, Permit},
    offload,
};

pin_project! {
    /// The body below; the share goes with it. What it has to do is done on behalf of the user who asked.
    #[derive(Debug, Default)]
    pub(in super::super) struct Held<B> {
        #[pin]
        inner: B,
        share: Option<Share>,
        user: Option<Arc<str>>,
        compressed: Option<Compressed>,
    }
}

/// An answer that is compressed as it is read, which costs ten times what it costs to send it: a user does so in one
/// answer at a time.
pub(super) struct Compressed {
    permits: Arc<FairSemaphore<Principal>>,
    holder: Principal,
    turn: Option<BoxFuture<'static, Permit>>,
}

impl Compressed {
    pub(super) fn new(permits: Arc<FairSemaphore<Principal>>, holder: Principal) -> Self {
        Self { permits, holder, turn: None }
    }

    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<Permit> {
        let Self { permits, holder, turn } = self;
        let waited = turn.get_or_insert_with(|| {
            let (permits, holder) = (Arc::clone(permits), holder.clone());
            Box::pin(async move { permits.acquire(Some(&holder)).await })
        });
        let begun = ready!(waited.as_mut().poll(cx));
        *turn = None;
        Poll::Ready(begun)
    }
}

impl fmt::Debug for Compressed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compressed").field("holder", &self.holder).finish_non_exhaustive()
    }
}

impl<B> Held<B> {
    pub(super) fn new(
        inner: B,
        share: Option<Share>,
        user: Option<Arc<str>>,
        compressed: Option<Compressed>,
    ) -> Self {
        Self { inner, share, user, compressed }
    }
}

impl<B: HttpBody> HttpBody for Held<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let this = self.project();
        let _turn = match this.compressed {
            Some(compressed) => Some(ready!(compressed.poll_turn(cx))),
            None => None,
        };
        offload::poll_on_behalf(this.user.as_ref(), || this.inner.poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

//! The response body of an admitted request, which holds its permit until the body has ended or is dropped.

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
    quotas::{Principal, QuotaPermit},
};
use toolwire_base::{
    fair_semaphore::{FairSemaphore, Permit},
    offload,
};

pin_project! {
    /// Forwards the inner body and holds the permit. It is polled on behalf of the request's user.
    #[derive(Debug, Default)]
    pub(in super::super) struct AdmittedBody<B> {
        #[pin]
        inner: B,
        permit: Option<QuotaPermit>,
        user: Option<Arc<str>>,
        compressed: Option<CompressionPermits>,
    }
}

/// Permits for a body that is compressed as it is polled. Compression is ten times as expensive as sending, so each
/// user has one permit.
pub(super) struct CompressionPermits {
    permits: Arc<FairSemaphore<Principal>>,
    principal: Principal,
    acquiring: Option<BoxFuture<'static, Permit>>,
}

impl CompressionPermits {
    pub(super) fn new(permits: Arc<FairSemaphore<Principal>>, principal: Principal) -> Self {
        Self { permits, principal, acquiring: None }
    }

    fn poll_permit(&mut self, cx: &mut Context<'_>) -> Poll<Permit> {
        let Self { permits, principal, acquiring } = self;
        let waited = acquiring.get_or_insert_with(|| {
            let (permits, principal) = (Arc::clone(permits), principal.clone());
            Box::pin(async move { permits.acquire(Some(&principal)).await })
        });
        let begun = ready!(waited.as_mut().poll(cx));
        *acquiring = None;
        Poll::Ready(begun)
    }
}

impl fmt::Debug for CompressionPermits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompressionPermits").field("principal", &self.principal).finish_non_exhaustive()
    }
}

impl<B> AdmittedBody<B> {
    pub(super) fn new(
        inner: B,
        permit: Option<QuotaPermit>,
        user: Option<Arc<str>>,
        compressed: Option<CompressionPermits>,
    ) -> Self {
        Self { inner, permit, user, compressed }
    }
}

impl<B: HttpBody> HttpBody for AdmittedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        let this = self.project();
        let _permit = match this.compressed {
            Some(compressed) => Some(ready!(compressed.poll_permit(cx))),
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

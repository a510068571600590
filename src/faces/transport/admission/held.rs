//! The answer's body, which holds the request's share until it has ended or is dropped.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::{faces::transport::shares::Share, offload};

pin_project! {
    /// The body below; the share goes with it. What it has to do is done on behalf of the user who asked.
    #[derive(Debug, Default)]
    pub(in super::super) struct Held<B> {
        #[pin]
        inner: B,
        share: Option<Share>,
        user: Option<Arc<str>>,
    }
}

impl<B> Held<B> {
    pub(super) fn new(inner: B, share: Option<Share>, user: Option<Arc<str>>) -> Self {
        Self { inner, share, user }
    }
}

impl<B: HttpBody> HttpBody for Held<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.project();
        offload::poll_on_behalf(this.user.as_ref(), || this.inner.poll_frame(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

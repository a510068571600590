//! The answer's body, which holds the request's share until it has ended or is dropped.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::faces::transport::shares::Share;

pin_project! {
    /// The body below; the share goes with it.
    #[derive(Debug, Default)]
    pub(in super::super) struct Held<B> {
        #[pin]
        inner: B,
        share: Option<Share>,
    }
}

impl<B> Held<B> {
    pub(super) fn new(inner: B, share: Option<Share>) -> Self {
        Self { inner, share }
    }
}

impl<B: HttpBody> HttpBody for Held<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().inner.poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

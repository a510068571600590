//! The future of a layer that either responds itself or forwards the request.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use http::Response;
use pin_project_lite::pin_project;
use tonic::Status;

use super::refusal;

pin_project! {
    /// Either a ready response or the future of the inner service.
    #[derive(Debug)]
    #[project = Projection]
    pub(super) enum Reply<F, B> {
        Respond { response: Option<Response<B>> },
        Forward { #[pin] future: F },
    }
}

impl<F, B> Reply<F, B> {
    pub(super) fn forward(future: F) -> Self {
        Self::Forward { future }
    }

    pub(super) fn respond(response: Response<B>) -> Self {
        Self::Respond { response: Some(response) }
    }

    /// Responds with `status`, trailers-only.
    pub(super) fn refuse(status: Status) -> Self
    where
        B: Default,
    {
        Self::respond(refusal::response(status))
    }
}

impl<F, B> Future for Reply<F, B>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
{
    type Output = Result<Response<B>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            Projection::Respond { response } => {
                Poll::Ready(Ok(response.take().expect("a future is not polled after it is ready")))
            }
            Projection::Forward { future } => future.poll(cx),
        }
    }
}

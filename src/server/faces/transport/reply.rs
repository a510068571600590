//! The future of a layer that either refuses a request at once or passes it on.

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
    /// Either a ready refusal or the future of the service below.
    #[derive(Debug)]
    #[project = Projection]
    pub(super) enum Reply<F, B> {
        Decided { response: Option<Response<B>> },
        Passed { #[pin] future: F },
    }
}

impl<F, B> Reply<F, B> {
    /// Lets the service below answer.
    pub(super) fn passed(future: F) -> Self {
        Self::Passed { future }
    }

    /// Answers with `response`.
    pub(super) fn decided(response: Response<B>) -> Self {
        Self::Decided { response: Some(response) }
    }

    /// Answers with `status`, trailers-only.
    pub(super) fn refused(status: Status) -> Self
    where
        B: Default,
    {
        Self::decided(refusal::response(status))
    }
}

impl<F, B> Future for Reply<F, B>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
{
    type Output = Result<Response<B>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            Projection::Decided { response } => {
                Poll::Ready(Ok(response.take().expect("a future is not polled after it is ready")))
            }
            Projection::Passed { future } => future.poll(cx),
        }
    }
}

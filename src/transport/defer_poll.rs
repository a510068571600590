//! Defers the poll of a connection until its ready streams were polled.
//!
//! tokio polls the task that was woken last first. Each stream wakes its connection, which would be polled right after
//! it, and every response would take a system call. Deferred once, the connection writes the responses of all ready
//! streams together.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;

pin_project! {
    /// A future that yields once to the tasks that are ready when it is woken.
    #[derive(Debug)]
    pub(super) struct DeferPoll<F> {
        #[pin]
        inner: F,
        // Whether it has yielded since it was woken.
        has_waited: bool,
    }
}

impl<F> DeferPoll<F> {
    pub(super) fn new(inner: F) -> Self {
        Self { inner, has_waited: false }
    }
}

impl<F: Future> Future for DeferPoll<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        *this.has_waited = !*this.has_waited;
        if *this.has_waited {
            // A task that wakes itself is queued behind all ready tasks.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        this.inner.poll(cx)
    }
}

//! A connection is polled after the streams that are ready.
//!
//! tokio polls the task that was woken last first. A connection is woken by each of its streams, so it would come right
//! after each of them, and every answer would be a system call of its own. One turn later the answers of all streams
//! that were ready leave together.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;

pin_project! {
    /// A task that lets those go first that are ready when it is woken.
    #[derive(Debug)]
    pub(super) struct Late<F> {
        #[pin]
        inner: F,
        // Whether the others had their turn.
        has_waited: bool,
    }
}

impl<F> Late<F> {
    /// The same work, one turn later.
    pub(super) fn new(inner: F) -> Self {
        Self { inner, has_waited: false }
    }
}

impl<F: Future> Future for Late<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        *this.has_waited = !*this.has_waited;
        if *this.has_waited {
            // A task that wakes itself goes to the end of the queue.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        this.inner.poll(cx)
    }
}

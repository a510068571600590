//! Long work that borrows, such as a plan: the future that does it is polled once on a thread of long work.

use std::{
    cell::Cell,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::runtime::Handle;

use super::{USER, permit, run, user};

/// Where a future is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// On the thread that carries its task.
    Here,
    /// The same, until it has been moved.
    Leaving,
    /// On a thread of long work.
    Away,
}

tokio::task_local! {
    static PLACE: Cell<Place>;
}

/// Runs a future that [`migrate`] can move: between the two, it is polled on the thread that carries its task.
///
/// # Panics
/// If the future does.
pub async fn migrating<F>(future: F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    let mut future = Box::pin(future);
    loop {
        let here = poll_fn(|cx| match poll_at(Place::Here, future.as_mut(), cx) {
            (Poll::Ready(output), _) => Poll::Ready(Some(output)),
            (Poll::Pending, Place::Leaving) => Poll::Ready(None),
            (Poll::Pending, _) => Poll::Pending,
        });
        if let Some(output) = here.await {
            return output;
        }
        let permit = permit().await;
        // The task's own waker: what wakes the future meanwhile has it polled again, here.
        let waker = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
        let (runtime, user) = (Handle::current(), user());
        let away = move || {
            // A future may need the clock and the tasks of the runtime that it began in.
            let _runtime = runtime.enter();
            let mut cx = Context::from_waker(&waker);
            let (polled, _) = USER.sync_scope(user, || poll_at(Place::Away, future.as_mut(), &mut cx));
            (future, polled)
        };
        let (returned, polled) = run(permit, away).await;
        if let Poll::Ready(output) = polled {
            return output;
        }
        future = returned;
    }
}

/// Moves the future that this is part of to a thread of long work, until its next wait. It waits for a permit of its
/// user. Returns at once where the future cannot be moved, as in a program without calls of others, or was already.
pub async fn migrate() {
    poll_fn(|cx| {
        let is_here = PLACE.try_with(|place| {
            let is_here = place.get() != Place::Away;
            if is_here {
                place.set(Place::Leaving);
            }
            is_here
        });
        if is_here == Ok(true) {
            // Futures beside this one in its task poll only what was woken.
            cx.waker().wake_by_ref();
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
    .await;
}

/// Whether the caller is on a thread of long work, with a permit.
pub(super) fn is_away() -> bool {
    PLACE.try_with(Cell::get) == Ok(Place::Away)
}

/// Polls a future. Returns its place afterwards, too.
fn poll_at<F: Future>(place: Place, future: Pin<&mut F>, cx: &mut Context<'_>) -> (Poll<F::Output>, Place) {
    PLACE.sync_scope(Cell::new(place), || (future.poll(cx), PLACE.with(Cell::get)))
}

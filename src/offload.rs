//! Work that takes longer than a call should hold up others, done beside the threads that carry calls.
//!
//! As many works at once as there are processors, the rest in the order in which they came: even then the threads that
//! carry calls have their share. Whoever no longer waits for a work that has begun leaves it to its end, which harms
//! nobody: it is for work that only computes. Not here: large messages of requests, which cannot leave their task
//! (`faces::transport`).

use std::{
    future::pending,
    panic::resume_unwind,
    sync::{Arc, LazyLock},
    thread::available_parallelism,
};

use tokio::{sync::Semaphore, task::spawn_blocking};
use tracing::{
    Span,
    dispatcher::{get_default, with_default},
};

/// Up to so many bytes of text cost less than the way to another thread and back is worth.
pub const SMALL: usize = 16 * 1024;

static TURNS: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(available_parallelism().map_or(2, usize::from))));

/// Does work on so many bytes: at once if they are few.
///
/// # Panics
/// If the work does.
pub async fn if_large<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= SMALL { work() } else { aside(work).await }
}

/// Does work on another thread, when it is its turn. Logs and spans of the work belong to the call that asked for it.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    #[cfg(test)]
    testing::count();
    let turn = Arc::clone(&TURNS).acquire_owned().await.expect("this semaphore is never closed");
    let (log, span) = (get_default(Clone::clone), Span::current());
    let done = spawn_blocking(move || {
        // Given back when the work has ended, whether or not anybody still waits for it.
        let _turn = turn;
        with_default(&log, || span.in_scope(work))
    });
    match done.await.map_err(tokio::task::JoinError::try_into_panic) {
        Ok(result) => result,
        Err(Ok(panic)) => resume_unwind(panic),
        // The runtime ends before the work could begin, and this task with it.
        Err(Err(_)) => pending().await,
    }
}

/// For tests of what is done aside.
#[cfg(test)]
pub(crate) mod testing {
    use std::cell::Cell;

    thread_local! {
        static ASKED: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count() {
        ASKED.set(ASKED.get() + 1);
    }

    /// How many works tasks of this thread have asked for.
    pub(crate) fn asked() -> usize {
        ASKED.get()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        panic::AssertUnwindSafe,
        sync::mpsc::channel,
        thread::{self, ThreadId},
    };

    use futures_util::FutureExt;

    use super::*;

    async fn thread_for(bytes: usize) -> ThreadId {
        if_large(bytes, || thread::current().id()).await
    }

    #[tokio::test]
    async fn only_large_work_leaves_the_thread_that_carries_calls() {
        let here = thread::current().id();
        assert_eq!(thread_for(SMALL).await, here);
        assert_ne!(thread_for(SMALL + 1).await, here);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn the_only_worker_is_free_while_large_work_is_done() {
        let carried = tokio::spawn(async {
            let (sender, receiver) = channel();
            // Runs on the worker, or never.
            tokio::spawn(async move { sender.send(thread::current().id()) });
            if_large(SMALL + 1, move || (receiver.recv().unwrap(), thread::current().id())).await
        });
        let (worker, aside) = carried.await.unwrap();
        assert_ne!(worker, aside);
    }

    #[tokio::test]
    async fn a_panic_comes_out_where_the_work_was_asked_for() {
        let work = AssertUnwindSafe(if_large(SMALL + 1, || panic!("as the test says")));
        let panic = work.catch_unwind().await.unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"as the test says"));
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_ends_and_gives_its_turn_back() {
        let (beginning, has_begun) = channel();
        let (leave, may_end) = channel();
        let mut abandoned = Box::pin(if_large(SMALL + 1, move || {
            beginning.send(()).unwrap();
            may_end.recv().unwrap();
        }));
        assert!(abandoned.as_mut().now_or_never().is_none());
        has_begun.recv().unwrap();
        drop(abandoned);
        leave.send(()).unwrap();
        // More than there are turns.
        for _ in 0..100 {
            thread_for(SMALL + 1).await;
        }
    }

    #[tokio::test]
    async fn the_work_knows_of_whose_call_it_is() {
        use tracing::{Instrument, info_span, subscriber::set_default};
        let _log = set_default(tracing_subscriber::registry());
        let span = info_span!("a call");
        let id = span.id();
        let of_work = if_large(SMALL + 1, || Span::current().id()).instrument(span);
        assert_eq!((of_work.await, id.is_some()), (id, true));
    }
}

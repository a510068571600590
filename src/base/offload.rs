//! Offloads work that would hold up other calls to threads of its own.
//!
//! Runs at most one work per processor at once, half of them for one user, round-robin across users: the threads that
//! carry calls keep their share, and a user's flood delays another user by at most one work. A caller that stops
//! waiting does not cancel work that has begun; that is harmless, since such work only computes. Not here: large
//! messages of requests, which cannot leave their task (`toolwire_server::faces::transport`).

use std::{
    future::pending,
    panic::resume_unwind,
    sync::{Arc, LazyLock},
    thread::available_parallelism,
};

use tokio::task::spawn_blocking;
use tracing::{
    Span,
    dispatcher::{get_default, with_default},
};

use crate::fair_semaphore::{FairSemaphore, Permit};

/// Below this size, in bytes of text, work runs inline: a thread hop costs more.
pub const SMALL: usize = 16 * 1024;

/// Keyed by the name of the user for whom the work is done.
static PERMITS: LazyLock<FairSemaphore<Arc<str>>> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(2, usize::from);
    FairSemaphore::new(processors, processors.div_ceil(2))
});

tokio::task_local! {
    static USER: Option<Arc<str>>;
}

/// Does what a user asked for: whatever large work it has is that user's.
pub async fn on_behalf<T>(user: impl Into<Option<Arc<str>>>, doing: impl Future<Output = T>) -> T {
    USER.scope(user.into(), doing).await
}

/// The same of what is polled piece by piece, such as the body of an answer.
pub fn poll_on_behalf<T>(user: Option<&Arc<str>>, poll: impl FnOnce() -> T) -> T {
    USER.sync_scope(user.cloned(), poll)
}

/// Runs work on an input of this many bytes: inline if the input is small.
///
/// # Panics
/// If the work does.
pub async fn if_large<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= SMALL { work() } else { run(permit().await, work).await }
}

/// Reads an input of this many bytes and runs work on it. A large input is read only once its permit is acquired, so
/// that inputs in the queue take no memory. `reading` must not acquire a permit itself: it would wait for the one held
/// here.
///
/// # Errors
/// If they cannot be read.
///
/// # Panics
/// If the work does.
pub async fn read<R: Send + 'static, E, T: Send + 'static>(
    bytes: usize,
    reading: impl Future<Output = Result<R, E>>,
    work: impl FnOnce(R) -> T + Send + 'static,
) -> Result<T, E> {
    if bytes <= SMALL {
        return reading.await.map(work);
    }
    let permit = permit().await;
    let read = reading.await?;
    Ok(run(permit, move || work(read)).await)
}

async fn permit() -> Permit {
    #[cfg(any(test, feature = "testing"))]
    testing::count();
    let user = USER.try_with(Clone::clone).ok().flatten();
    PERMITS.acquire(user.as_ref()).await
}

/// Does work on another thread. Logs and spans of the work belong to the call that asked for it.
async fn run<T: Send + 'static>(permit: Permit, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (log, span) = (get_default(Clone::clone), Span::current());
    let done = spawn_blocking(move || {
        // Given back when the work has ended, whether or not anybody still waits for it.
        let _permit = permit;
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
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    use std::cell::Cell;

    thread_local! {
        static ASKED: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count() {
        ASKED.set(ASKED.get() + 1);
    }

    /// On whose behalf is done what asks.
    pub fn user() -> String {
        super::USER.try_with(Clone::clone).ok().flatten().map(|user| user.to_string()).unwrap_or_default()
    }

    /// How many works tasks of this thread have asked for.
    pub fn requested_count() -> usize {
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
        let (beginning, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
        let (leave, may_end) = channel();
        let mut abandoned = Box::pin(if_large(SMALL + 1, move || {
            beginning.send(()).unwrap();
            may_end.recv().unwrap();
        }));
        // Other tests of this process may have all turns at first.
        tokio::select! {
            () = &mut abandoned => panic!("it waits to be let go"),
            begun = has_begun.recv() => begun.unwrap(),
        }
        drop(abandoned);
        leave.send(()).unwrap();
        // More than there are turns.
        for _ in 0..100 {
            thread_for(SMALL + 1).await;
        }
    }

    #[tokio::test]
    async fn the_work_knows_of_whose_call_it_is() {
        use crate::capture::capture;
        use tracing::{Instrument, info_span};
        let _log = capture(tracing_subscriber::registry());
        let span = info_span!("a call");
        let id = span.id();
        let of_work = if_large(SMALL + 1, || Span::current().id()).instrument(span);
        assert_eq!((of_work.await, id.is_some()), (id, true));
    }

    #[tokio::test]
    async fn one_users_flood_keeps_another_waiting_for_one_work_at_most() {
        let processors = available_parallelism().map_or(2, usize::from);
        if processors < 2 {
            return;
        }
        let (beginning, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
        let (leave, may_end) = channel::<()>();
        let may_end = Arc::new(std::sync::Mutex::new(may_end));
        let held: Vec<_> = (0..2 * processors)
            .map(|_| {
                let (may_end, beginning) = (Arc::clone(&may_end), beginning.clone());
                // Each takes a thread until the test lets all of them go.
                let work = move || {
                    beginning.send(()).unwrap();
                    let _ = may_end.lock().unwrap().recv();
                };
                tokio::spawn(on_behalf(Arc::from("flood"), if_large(SMALL + 1, work)))
            })
            .collect();
        has_begun.recv().await.unwrap();
        // Would wait for all of them, were it served in order of arrival.
        let here = on_behalf(Arc::from("other"), if_large(SMALL + 1, || 7)).await;
        drop(leave);
        for work in held {
            work.await.unwrap();
        }
        assert_eq!(here, 7);
    }

    #[tokio::test]
    async fn who_waits_for_a_turn_has_read_nothing() {
        let user: Arc<str> = "reader".into();
        let mut held = Vec::new();
        for _ in 0..available_parallelism().map_or(2, usize::from).div_ceil(2) {
            held.push(on_behalf(Arc::clone(&user), permit()).await);
        }
        let reading = async { unreachable!("it is not its turn") };
        let read = read::<(), (), ()>(SMALL + 1, reading, |()| ());
        assert!(Box::pin(on_behalf(user, read)).as_mut().now_or_never().is_none());
    }
}

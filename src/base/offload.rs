//! Offloads work that would hold up other calls to the blocking threads of the runtime.
//!
//! As many closures run at once as there are processors, at most half of them for one user, round-robin across users:
//! the threads that carry calls keep their share, and a user's flood delays another user by at most one closure. A
//! caller that stops waiting does not cancel a closure that has begun; that is harmless, since it only computes. Not
//! here: large messages of requests, which cannot leave their task (`toolwire_server::faces::transport`).

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

/// Runs a future on behalf of a user: what it offloads counts against that user's share.
pub async fn on_behalf<T>(user: impl Into<Option<Arc<str>>>, future: impl Future<Output = T>) -> T {
    USER.scope(user.into(), future).await
}

/// Polls on behalf of a user, as [`on_behalf`]: for what is not a future, such as the body of a response.
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

/// Reads an input of this many bytes and runs work on it.
///
/// `reading` must not acquire a permit itself: it would wait for the one held here.
///
/// # Errors
/// If `reading` fails.
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
    // The permit before the input, so that inputs in the queue take no memory.
    let permit = permit().await;
    let input = reading.await?;
    Ok(run(permit, move || work(input)).await)
}

async fn permit() -> Permit {
    #[cfg(any(test, feature = "testing"))]
    testing::count();
    let user = USER.try_with(Clone::clone).ok().flatten();
    PERMITS.acquire(user.as_ref()).await
}

/// Runs work on a blocking thread. Its logs and spans belong to the caller.
async fn run<T: Send + 'static>(permit: Permit, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (log, span) = (get_default(Clone::clone), Span::current());
    let done = spawn_blocking(move || {
        // Moved in: it must be held as long as the thread is busy, even if the caller has stopped waiting.
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

/// For tests of what is offloaded.
#[cfg(any(test, feature = "testing"))]
pub mod testing {
    use std::cell::Cell;

    thread_local! {
        static REQUESTED: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn count() {
        REQUESTED.set(REQUESTED.get() + 1);
    }

    /// The user on whose behalf the caller runs.
    pub fn user() -> String {
        super::USER.try_with(Clone::clone).ok().flatten().map(|user| user.to_string()).unwrap_or_default()
    }

    /// Number of permits that tasks of this thread have requested.
    pub fn requested_count() -> usize {
        REQUESTED.get()
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
    async fn the_only_worker_is_free_while_large_work_runs() {
        let carried = tokio::spawn(async {
            let (sender, receiver) = channel();
            // Runs on the worker, or never.
            tokio::spawn(async move { sender.send(thread::current().id()) });
            if_large(SMALL + 1, move || (receiver.recv().unwrap(), thread::current().id())).await
        });
        let (worker, blocking) = carried.await.unwrap();
        assert_ne!(worker, blocking);
    }

    #[tokio::test]
    async fn a_panic_of_the_work_resumes_in_its_caller() {
        let work = AssertUnwindSafe(if_large(SMALL + 1, || panic!("as the test says")));
        let panic = work.catch_unwind().await.unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&"as the test says"));
    }

    #[tokio::test]
    async fn abandoned_work_ends_and_releases_its_permit() {
        let (beginning, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
        let (leave, may_end) = channel();
        let mut abandoned = Box::pin(if_large(SMALL + 1, move || {
            beginning.send(()).unwrap();
            may_end.recv().unwrap();
        }));
        // Other tests of this process may hold all permits at first.
        tokio::select! {
            () = &mut abandoned => panic!("it waits to be let go"),
            begun = has_begun.recv() => begun.unwrap(),
        }
        drop(abandoned);
        leave.send(()).unwrap();
        // More than there are permits.
        for _ in 0..100 {
            thread_for(SMALL + 1).await;
        }
    }

    #[tokio::test]
    async fn the_work_runs_in_the_span_of_its_caller() {
        use crate::capture::capture;
        use tracing::{Instrument, info_span};
        let _log = capture(tracing_subscriber::registry());
        let span = info_span!("a call");
        let id = span.id();
        let of_work = if_large(SMALL + 1, || Span::current().id()).instrument(span);
        assert_eq!((of_work.await, id.is_some()), (id, true));
    }

    #[tokio::test]
    async fn one_users_flood_delays_another_by_one_closure_at_most() {
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
    async fn nothing_is_read_before_its_permit_is_acquired() {
        let user: Arc<str> = "reader".into();
        let mut held = Vec::new();
        for _ in 0..available_parallelism().map_or(2, usize::from).div_ceil(2) {
            held.push(on_behalf(Arc::clone(&user), permit()).await);
        }
        let reading = async { unreachable!("it has no permit") };
        let read = read::<(), (), ()>(SMALL + 1, reading, |()| ());
        assert!(Box::pin(on_behalf(user, read)).as_mut().now_or_never().is_none());
    }
}

//! Offloads work that would hold up other calls to the blocking threads of the runtime.
//!
//! As many closures run at once as there are processors, at most half of them for one user, round-robin across users.
//! The threads that carry calls keep their share, and a user with many closures delays another user by at most one.
//! Where all processors are busy, the system prefers the threads that carry calls. A caller that stops waiting does not
//! cancel a closure that has begun; that is harmless, since it only computes. Work that borrows is moved with its whole
//! future ([`migrating`]). Not here: large messages of requests, which cannot leave their task
//! (`toolwire_transport`).

mod migration;

use std::{
    future::pending,
    panic::resume_unwind,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread::available_parallelism,
    time::Duration,
};

use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::{JoinHandle, spawn_blocking},
};
use tracing::{
    Span,
    dispatcher::{get_default, with_default},
};

pub use self::migration::{migrate, migrating};
use crate::fair_semaphore::{FairSemaphore, Permit};

/// Below this size, in bytes of text, work runs inline: a thread hop costs more.
pub const SMALL: usize = 16 * 1024;

/// Above this size, in bytes of text, even freeing may take a millisecond: it may be a tree.
const SLOW: usize = 256 * 1024;

/// Bytes of text whose values wait to be freed: some 36 times as much memory if they are trees of small values. Threads
/// of low priority may free more slowly than calls end. Once this many bytes wait, a value is freed by its owner.
const MAX_DISCARDED: usize = 4 * 1024 * 1024;

/// Threads of low priority for checks of offers, which need no permit.
const THREADS_OF_CHECKS: usize = 2;

/// How long a thread that blocks stays when it is idle. It keeps what others have freed of its allocations, some 70 MiB
/// after a large value: few threads have it, and not for long.
pub const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// Added to the nice value of threads of long work: they get a quarter of a processor that a thread with calls needs
/// too.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

/// The threads of low priority, one for each permit.
static LOW: LazyLock<Runtime> = LazyLock::new(|| threads_of_low_priority(processors()));

/// Those for checks of offers.
static CHECKS: LazyLock<Runtime> = LazyLock::new(|| threads_of_low_priority(THREADS_OF_CHECKS));

/// The one that frees. It is another, since each thread that has made a large value keeps memory, and a long check must
/// not hold it up.
static FREEING: LazyLock<Runtime> = LazyLock::new(|| threads_of_low_priority(1));

/// Keyed by the name of the user for whom the work is done.
static PERMITS: LazyLock<FairSemaphore<Arc<str>>> =
    LazyLock::new(|| FairSemaphore::new(processors(), processors().div_ceil(2)));

/// Bytes that wait to be freed.
static DISCARDED: AtomicUsize = AtomicUsize::new(0);

tokio::task_local! {
    static USER: Option<Arc<str>>;
}

/// Runs a future on behalf of a user: what it offloads counts against that user's share.
pub fn on_behalf<F: Future>(user: impl Into<Option<Arc<str>>>, future: F) -> impl Future<Output = F::Output> {
    USER.scope(user.into(), future)
}

/// Polls on behalf of a user, as [`on_behalf`]: for what is not a future, such as the body of a response.
pub fn poll_on_behalf<T>(user: Option<&Arc<str>>, poll: impl FnOnce() -> T) -> T {
    USER.sync_scope(user.cloned(), poll)
}

/// Runs work on an input of this many bytes: inline if the input is small, or the caller is on a thread of long work.
///
/// # Panics
/// If the work does.
pub async fn if_large<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= SMALL || migration::is_away() { work() } else { run(permit().await, work).await }
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

/// Frees a value of this many bytes: elsewhere if it is large, where a runtime is there to do so, and not too much
/// waits to be freed already.
pub fn discard<T: Send + 'static>(bytes: usize, value: T) {
    if bytes <= SLOW || Handle::try_current().is_err() {
        return;
    }
    let bytes = bytes.min(MAX_DISCARDED);
    // One value more than the bound, however large, so that it is never freed here because of a small one before it.
    if DISCARDED.fetch_add(bytes, Relaxed) >= MAX_DISCARDED {
        DISCARDED.fetch_sub(bytes, Relaxed);
        return;
    }
    FREEING.spawn_blocking(move || {
        drop(value);
        DISCARDED.fetch_sub(bytes, Relaxed);
    });
}

/// Threads of low priority. They are of a runtime of their own: those that block in that of calls may come to carry
/// calls (`block_in_place`).
fn threads_of_low_priority(threads: usize) -> Runtime {
    let runtime = Builder::new_current_thread()
        .thread_name("long-work")
        .max_blocking_threads(threads)
        .thread_keep_alive(KEEP_ALIVE)
        .on_thread_start(lower_priority)
        .build();
    runtime.expect("without input, output and time it needs nothing of the system")
}

/// Runs work on one of these threads, and waits for it: on a thread that blocks, so that a paused clock waits, too.
fn on_thread_of<T: Send + 'static>(runtime: &Runtime, work: impl FnOnce() -> T + Send + 'static) -> T {
    runtime.block_on(runtime.spawn_blocking(work)).unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

/// Lowers the priority of this thread below that of threads with calls. Only a privileged process could undo it.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    // Of this thread alone, on Linux; elsewhere it would be the whole process.
    let _ = rustix::process::nice(NICE);
}

/// Runs long work that is alone of its kind, as the check of a provider's offers is, so that it needs no permit.
///
/// # Errors
/// If the work panics.
pub fn run_alone<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    spawn_blocking(|| on_thread_of(&CHECKS, work))
}

fn processors() -> usize {
    available_parallelism().map_or(2, usize::from)
}

/// The user on whose behalf the caller runs.
pub fn user() -> Option<Arc<str>> {
    USER.try_with(Clone::clone).ok().flatten()
}

async fn permit() -> Permit<Arc<str>> {
    #[cfg(any(test, feature = "testing"))]
    testing::count();
    PERMITS.acquire(user().as_ref()).await
}

/// Runs work on a blocking thread. Its logs and spans belong to the caller.
async fn run<T: Send + 'static>(permit: Permit<Arc<str>>, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (log, span) = (get_default(Clone::clone), Span::current());
    let done = spawn_blocking(move || {
        // Moved in: it must be held as long as the thread is busy, even if the caller has stopped waiting.
        let _permit = permit;
        on_thread_of(&LOW, move || with_default(&log, || span.in_scope(work)))
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
        super::user().map(|user| user.to_string()).unwrap_or_default()
    }

    /// Number of permits that tasks of this thread have requested.
    pub fn requested_count() -> usize {
        REQUESTED.get()
    }
}

#[cfg(test)]
mod tests;

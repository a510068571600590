//! Where long work runs, and how fairly.

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

/// Says on which thread it is freed.
struct Large(tokio::sync::mpsc::UnboundedSender<ThreadId>);

impl Drop for Large {
    fn drop(&mut self) {
        let _ = self.0.send(thread::current().id());
    }
}

#[tokio::test]
async fn only_what_is_large_is_freed_elsewhere_unless_too_much_waits_for_that() {
    let here = thread::current().id();
    let (sender, mut freed) = tokio::sync::mpsc::unbounded_channel();
    discard(SLOW, Large(sender.clone()));
    assert_eq!(freed.recv().await, Some(here));
    discard(SLOW + 1, Large(sender.clone()));
    assert_ne!(freed.recv().await, Some(here));
    // Takes as long to be freed as the test wants it to.
    let (leave, may_end) = channel::<()>();
    let slow = Large(sender.clone());
    while DISCARDED.load(Relaxed) > 0 {
        tokio::task::yield_now().await;
    }
    discard(usize::MAX, Waits(may_end, slow));
    discard(SLOW + 1, Large(sender));
    assert_eq!(freed.recv().await, Some(here));
    drop(leave);
    assert_ne!(freed.recv().await, Some(here));
}

/// Is freed once the other end of the channel is.
struct Waits(std::sync::mpsc::Receiver<()>, #[expect(dead_code, reason = "dropped last")] Large);

impl Drop for Waits {
    fn drop(&mut self) {
        let _ = self.0.recv();
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_thread_of_long_work_comes_after_those_that_carry_calls() {
    let nice = || rustix::process::getpriority_process(Some(rustix::thread::gettid())).unwrap();
    for _ in 0..3 {
        assert_eq!(if_large(SMALL + 1, nice).await, (nice() + NICE).min(19));
        assert_eq!(run_alone(nice).await.unwrap(), (nice() + NICE).min(19));
    }
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

/// Carries out work of one user beside more of another than there are threads, each piece of which takes a thread until
/// that work is done.
async fn beside_a_flood<F>(piece: impl Fn(Box<dyn FnOnce() + Send>) -> F, work: impl Future<Output = ()>)
where
    F: Future<Output = ()> + Send + 'static,
{
    if processors() < 2 {
        return;
    }
    let (beginning, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
    let (leave, may_end) = channel::<()>();
    let may_end = Arc::new(std::sync::Mutex::new(may_end));
    let flood = (0..2 * processors()).map(|_| {
        let (may_end, beginning) = (Arc::clone(&may_end), beginning.clone());
        let hold = move || {
            beginning.send(()).unwrap();
            let _ = may_end.lock().unwrap().recv();
        };
        tokio::spawn(on_behalf(Arc::from("flood"), piece(Box::new(hold))))
    });
    let flood: Vec<_> = flood.collect();
    has_begun.recv().await.unwrap();
    // Would wait for all of them, were it served in order of arrival.
    on_behalf(Arc::from("other"), work).await;
    drop(leave);
    for piece in flood {
        piece.await.unwrap();
    }
}

#[tokio::test]
async fn one_users_flood_delays_another_by_one_closure_at_most() {
    beside_a_flood(|hold| if_large(SMALL + 1, hold), if_large(SMALL + 1, || ())).await;
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

/// A future that does long work between two waits, and on which threads each part ran.
async fn parts() -> [ThreadId; 3] {
    let before = thread::current().id();
    tokio::task::yield_now().await;
    migrate().await;
    let long = thread::current().id();
    // Nothing to move again, and nothing to wait for.
    migrate().await;
    assert_eq!((thread_for(SMALL + 1).await, testing::user().as_str()), (long, "riley"));
    tokio::spawn(tokio::time::sleep(Duration::from_millis(1))).await.unwrap();
    // On a busy machine the sleep may have ended before it was awaited.
    tokio::task::yield_now().await;
    [before, long, thread::current().id()]
}

#[tokio::test]
async fn a_future_is_moved_for_its_long_work_and_comes_back_at_its_next_wait() {
    let here = thread::current().id();
    let [before, long, after] = on_behalf(Arc::from("riley"), migrating(parts())).await;
    assert_eq!((before, after), (here, here));
    assert_ne!(long, here);
    let beside = migrating(async { tokio::join!(parts_of("riley"), parts_of("sam")) });
    let (one, other) = beside.await;
    assert!(one != here && other != here, "each of several is moved");
}

async fn parts_of(_user: &str) -> ThreadId {
    tokio::task::yield_now().await;
    migrate().await;
    thread::current().id()
}

#[tokio::test]
async fn a_future_that_cannot_be_moved_goes_on_where_it_is() {
    let here = thread::current().id();
    assert_eq!(parts_of("riley").await, here);
}

#[tokio::test]
async fn one_users_flood_of_futures_that_are_moved_delays_another_by_one_at_most() {
    let piece = |hold: Box<dyn FnOnce() + Send>| {
        migrating(async move {
            migrate().await;
            hold();
        })
    };
    beside_a_flood(piece, migrating(migrate())).await;
}

#[tokio::test]
async fn a_panic_on_a_thread_of_long_work_is_one_of_the_task() {
    let panics = migrating(async {
        migrate().await;
        panic!("of the future")
    });
    let panicked: Result<(), _> = AssertUnwindSafe(panics).catch_unwind().await;
    assert_eq!(panicked.unwrap_err().downcast_ref(), Some(&"of the future"));
}

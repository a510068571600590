//! Stores that fail, hang or are slow.

use super::*;

#[derive(Clone, Copy, Debug)]
enum Fault {
    Fails,
    PanicsWhenItKeeps,
    NeverKeeps,
}

/// A store that does not work.
#[derive(Debug)]
struct Faulty(Fault, MemoryResults);

impl Results for Faulty {
    fn get<'a>(
        &'a self,
        key: &'a ResultKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, StoreError>> {
        match self.0 {
            Fault::Fails => Box::pin(ready(Err(StoreError::Nowhere("no disk".to_owned())))),
            _ => self.1.get(key, now),
        }
    }

    fn put<'a>(
        &'a self,
        _: &'a ResultKey,
        _: &'a StoredResult<Payload>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        match self.0 {
            Fault::Fails => Box::pin(ready(Err(StoreError::Nowhere("no disk".to_owned())))),
            Fault::PanicsWhenItKeeps => panic!("as asked"),
            Fault::NeverKeeps => Box::pin(futures_util::future::pending()),
        }
    }
}

fn faulty(fault: Fault) -> Bench {
    let request = Arc::new(Faulty(fault, MemoryResults::default()));
    Bench::caching("debug_sleep", &policy("request", "user"), Tiers { request, ..Tiers::in_memory() })
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_work_is_a_cache_that_knows_nothing() {
    let turn = Turn::take().await;
    let bench = faulty(Fault::Fails);
    assert!(!is_hit(&bench, nap("0s")).await && !is_hit(&bench, nap("0s")).await);
    turn.assert_executions(2).await;
    // Equal calls at one time are one all the same.
    let (one, other) = tokio::join!(bench.run(nap("1s")), bench.run(nap("1s")));
    assert!(result(one).outcome.is_ok() && result(other).outcome.is_ok());
    turn.assert_executions(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_holds_nobody_up_for_long() {
    let _turn = Turn::take().await;
    let (bench, started) = (faulty(Fault::NeverKeeps), clock::now());
    assert!(result(bench.run(nap("0s")).await).outcome.is_ok());
    assert_eq!(clock::now() - started, Duration::from_secs(1));
}

/// A store that takes its time over the second look, and then tells what was there when it began.
#[derive(Debug, Default)]
struct Slow(AtomicUsize, MemoryResults);

impl Results for Slow {
    fn get<'a>(
        &'a self,
        key: &'a ResultKey,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<StoredResult>, StoreError>> {
        Box::pin(async move {
            let found = self.1.get(key, now).await;
            if self.0.fetch_add(1, Ordering::Relaxed) == 1 {
                sleep(Duration::from_secs(1)).await;
            }
            found
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a ResultKey,
        result: &'a StoredResult<Payload>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.1.put(key, result)
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_looked_before_another_landed_does_not_execute_again() {
    let turn = Turn::take().await;
    let tiers = Tiers { request: Arc::new(Slow::default()), ..Tiers::in_memory() };
    let bench = Bench::caching("debug_sleep", &policy("request", "user"), tiers);
    let (first, second) = tokio::join!(is_hit(&bench, nap("0s")), is_hit(&bench, nap("0s")));
    assert!(!first && second);
    turn.assert_executions(1).await;
}

#[tokio::test(start_paused = true)]
async fn an_execution_whose_task_is_gone_is_an_error_for_everybody_and_nobody_hangs() {
    let _turn = Turn::take().await;
    let bench = faulty(Fault::PanicsWhenItKeeps);
    let (one, other) = tokio::join!(bench.run(nap("1s")), bench.run(nap("1s")));
    for end in [one, other] {
        assert!(matches!(end, Err(Refusal::Internal { .. })), "{end:?}");
    }
}

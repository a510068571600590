//! Writes whose end could not be recorded at first: they are recorded as soon as the store works again.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::*;

/// A store that cannot record this many ends, as one that is away for a while.
#[derive(Debug)]
struct AwayStore(MemoryIdempotency, AtomicUsize);

impl Idempotency for AwayStore {
    fn begin<'a>(&'a self, call: Beginning<'a>) -> BoxFuture<'a, Begun> {
        self.0.begin(call)
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        let is_away = self.1.fetch_update(SeqCst, SeqCst, |failures| failures.checked_sub(1)).is_ok();
        if is_away {
            return Box::pin(async { Err(StoreError::Nowhere("it is away".to_owned())) });
        }
        self.0.end(key, result)
    }

    fn suspend<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.suspend(key)
    }

    fn forget<'a>(&'a self, key: &'a Key, code: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.forget(key, code)
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_that_was_answered_while_the_store_was_away_is_recorded_when_it_is_back() {
    let bench = Bench::storing(AwayStore(MemoryIdempotency::default(), AtomicUsize::new(3)));
    let id = RequestId::generate();
    let told = result(bench.run(write(id, "x", "0s")).await).outcome.expect("data");
    assert_eq!(told.json()["writes"], 1);
    // Its end is not recorded yet, and its repeat gets it all the same.
    let repeated = result(bench.run(write(id, "x", "0s")).await).outcome.expect("data");
    assert_eq!(repeated.json(), told.json());
    assert!(!bench.pipeline.in_flight().is_empty(), "a drain waits for the record");
    sleep(Duration::from_secs(5)).await;
    assert!(bench.pipeline.in_flight().is_empty());
    let again = result(bench.run(write(id, "x", "0s")).await).outcome.expect("data");
    assert_eq!(again.json(), told.json());
}

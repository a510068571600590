//! A machine whose clock is off while its state is in use. Without PostgreSQL nothing is tested.

use std::{
    sync::atomic::{AtomicI64, Ordering::SeqCst},
    time::{Duration, SystemTime},
};

use toolwire::{base::clock, db::StoreError, state::Store};

use crate::support::state;

/// How far this machine's clock is off, in seconds.
static OFF_BY: AtomicI64 = AtomicI64::new(0);

fn machine() -> SystemTime {
    let off = OFF_BY.load(SeqCst);
    let by = Duration::from_secs(off.unsigned_abs());
    if off < 0 { clock::wall() - by } else { clock::wall() + by }
}

#[track_caller]
fn is_of_clocks(error: &StoreError) {
    assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
    assert!(error.to_string().contains("clock and this machine's differ by 1"), "{error}");
}

#[tokio::test]
async fn a_clock_that_is_10_seconds_off_makes_the_state_unusable_until_it_is_right() {
    let directory = tempfile::tempdir().unwrap();
    let Some(address) = state::address(directory.path()) else { return };
    let store = Store::in_postgres(address.clone()).with_wall_clock(machine);
    store.open().await.unwrap();
    for off in [12, -12] {
        OFF_BY.store(off, SeqCst);
        let mut last_error = store.last_error();
        let error = last_error.wait_for(Option::is_some).await.unwrap().clone().unwrap();
        is_of_clocks(&error);
        // The write succeeds, and the state stays unusable.
        is_of_clocks(&store.probe().await.unwrap_err());
        assert!(Store::in_postgres(address.clone()).with_wall_clock(machine).open().await.is_err());
        // A warning is no error.
        OFF_BY.store(off / 4, SeqCst);
        state::until(async || store.probe().await.is_ok()).await;
        assert_eq!(*last_error.borrow_and_update(), None);
        OFF_BY.store(0, SeqCst);
    }
}

//! A clock over a machine whose clocks a test sets.

use std::{
    cell::Cell,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use proptest::prelude::*;

use super::*;

thread_local! {
    /// The wall clock and the time since boot, in milliseconds.
    static MACHINE: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
}

const HOUR: i64 = 3_600_000;

fn instant(millis: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis.unsigned_abs())
}

/// A clock on a machine that has run for an hour.
fn start(is_of_database: bool) -> Clock {
    MACHINE.set((1_000 * HOUR, HOUR));
    let machine = Machine {
        wall: || instant(MACHINE.get().0),
        since_boot: || Duration::from_millis(MACHINE.get().1.unsigned_abs()),
    };
    Clock::new("there".to_owned(), machine, is_of_database)
}

/// Time passes, in milliseconds.
fn pass(millis: i64) {
    let (wall, since_boot) = MACHINE.get();
    MACHINE.set((wall + millis, since_boot + millis));
}

/// Somebody sets the wall clock.
fn set_wall(by: i64) {
    let (wall, since_boot) = MACHINE.get();
    MACHINE.set((wall + by, since_boot));
}

#[test]
fn a_wall_clock_that_is_set_moves_no_state_and_beyond_10_seconds_nothing_begins() {
    for by in [1_000, -1_000, 10_000, -10_000, 11_000, -11_000, 660_000, -660_000, 25 * HOUR, -25 * HOUR] {
        let clock = start(false);
        let began = clock.now();
        pass(HOUR);
        set_wall(by);
        assert_eq!(clock.now(), began + Duration::from_hours(1), "{by}");
        assert_eq!(clock.check().is_ok(), by.abs() <= 10_000, "{by}");
        if let Err(error) = clock.check() {
            let way = if by > 0 { "forward" } else { "back" };
            assert!(error.to_string().contains(&format!("set {way} by {} s", by.abs() / 1_000)), "{error}");
        }
        // It returns: that settles it.
        set_wall(-by);
        clock.check().unwrap();
    }
}

#[test]
fn a_machine_that_sleeps_has_the_right_time_when_it_wakes() {
    let clock = start(false);
    let began = clock.now();
    // Both clocks go on.
    pass(8 * HOUR);
    clock.check().unwrap();
    assert_eq!(clock.now(), began + Duration::from_hours(8));
}

#[tokio::test(start_paused = true)]
async fn a_process_that_stood_still_begins_nothing_before_a_new_reading() {
    let clock = start(true);
    let asked = clock.ask();
    pass(100);
    clock.set(asked, clock.now());
    pass(900);
    clock.check_fresh().await.unwrap();
    // Stopped, and continued.
    pass(HOUR);
    let stale = clock.check_fresh().await.unwrap_err();
    assert!(matches!(stale, StoreError::Unreachable { .. }), "{stale:?}");
    let (waiting, asked) = (clock.check_fresh(), clock.ask());
    tokio::pin!(waiting);
    assert!(futures_util::poll!(&mut waiting).is_pending());
    clock.set(asked, clock.now());
    waiting.await.unwrap();
}

#[test]
fn an_answer_that_was_long_on_its_way_is_stale_when_it_arrives() {
    let clock = start(true);
    let asked = clock.ask();
    let told = clock.now();
    // Stopped between the answer and the reading of it.
    pass(HOUR);
    clock.set(asked, told);
    assert!(matches!(clock.check(), Err(StoreError::Unreachable { .. })));
}

#[test]
fn what_the_database_tells_counts_and_what_this_machine_shows_does_not() {
    let clock = start(true);
    set_wall(9_000);
    let told = instant(1_000 * HOUR);
    assert_eq!(clock.set(clock.ask(), told), Duration::from_secs(9));
    assert_eq!(clock.now(), told);
    clock.check().unwrap();
    set_wall(2_000);
    let refused = clock.check().unwrap_err().to_string();
    assert!(refused.contains("its clock and this machine's differ by 11 s"), "{refused}");
    assert_eq!(clock.now(), told);
}

proptest! {
    /// Whatever is set, told and waited for: a fresh clock is the database's, or late by what was on its way.
    #[test]
    fn a_clock_is_never_early(
        steps in prop::collection::vec(
            (0_i64..3_000, -2 * HOUR..2 * HOUR, 0_i64..2_000, any::<bool>()), 1..40
        )
    ) {
        let clock = start(true);
        let mut of_database = 1_000 * HOUR;
        clock.set(clock.ask(), instant(of_database));
        let mut late = 0;
        for (passes, set, travels, is_read) in steps {
            pass(passes);
            of_database += passes;
            set_wall(set);
            if is_read {
                let asked = clock.ask();
                let told = instant(of_database);
                pass(travels);
                of_database += travels;
                clock.set(asked, told);
                late = travels;
            }
            prop_assert_eq!(clock.now(), instant(of_database - late));
            if clock.check().is_ok() {
                prop_assert!(late <= 1_000, "what was longer on its way is stale");
            }
        }
    }
}

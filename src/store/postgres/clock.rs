//! The clock of this machine, compared with the database's: those of servers say when leases, deadlines and retention
//! end, so that one which is off would take over what another still has.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use super::{address::Address, error::refused};
use crate::{StoreError, last_error::LastError};

/// A difference that is a warning, and one with which no state is used.
const WARN_SKEW: Duration = Duration::from_secs(1);
const MAX_SKEW: Duration = Duration::from_secs(10);

/// Reads the database's clock, in milliseconds.
pub(super) const READ: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT";

/// Compares the clocks. Cheap to clone; clones share the last difference.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    address: Arc<Address>,
    machine: fn() -> SystemTime,
    last_error: LastError,
    skew: Arc<Mutex<Duration>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Right,
    Off,
    TooFar,
}

impl Clock {
    pub(crate) fn new(address: &Arc<Address>, machine: fn() -> SystemTime, last_error: &LastError) -> Self {
        let (address, last_error) = (Arc::clone(address), last_error.clone());
        Self { address, machine, last_error, skew: Arc::default() }
    }

    /// The time of this machine, to be read before the database's.
    pub(super) fn machine(&self) -> SystemTime {
        (self.machine)()
    }

    /// Compares the time that the database just answered with, and logs if the difference has become a warning, too
    /// large, or neither.
    pub(super) fn compare(&self, asked_at: SystemTime, of_database: SystemTime) -> Result<(), StoreError> {
        let off = |one: SystemTime, other: SystemTime| one.duration_since(other).unwrap_or_default();
        // It read its clock between the question and the answer.
        let skew = off(asked_at, of_database).max(off(of_database, self.machine()));
        let before = std::mem::replace(&mut *self.skew.lock().unwrap_or_else(PoisonError::into_inner), skew);
        let (address, skew_ms) = (&self.address, skew.as_millis());
        match (level(before), level(skew)) {
            (before, now) if before == now => {}
            (_, Level::Right) => {
                tracing::info!(%address, "the clocks of the database and of this machine agree");
            }
            (_, Level::Off) => {
                tracing::warn!(%address, %skew_ms, "the clocks of the database and of this machine differ");
            }
            // The error is logged by those who read it.
            (_, Level::TooFar) => {}
        }
        self.error().map_or(Ok(()), Err)
    }

    /// Compares while the state is in use: a difference that is too large makes it unusable.
    pub(super) fn watch(&self, asked_at: SystemTime, of_database: SystemTime) {
        let was_too_far = self.error().is_some();
        if let Err(error) = self.compare(asked_at, of_database)
            && !was_too_far
        {
            self.last_error.set(error);
        }
    }

    /// The error of a difference that is too large.
    pub(crate) fn error(&self) -> Option<StoreError> {
        let skew = *self.skew.lock().unwrap_or_else(PoisonError::into_inner);
        if level(skew) != Level::TooFar {
            return None;
        }
        let cause = format!("its clock and this machine's differ by {} s", skew.as_secs());
        Some(refused(&self.address, &cause, "Set the clocks, such as by NTP"))
    }
}

fn level(skew: Duration) -> Level {
    match skew {
        skew if skew > MAX_SKEW => Level::TooFar,
        skew if skew > WARN_SKEW => Level::Off,
        _ => Level::Right,
    }
}

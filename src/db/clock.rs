//! The clock of a state: what it ends, forgets, leases or expires goes by this one.
//!
//! Of a state in PostgreSQL it is the database's, which `postgres::presence` reads four times a second; of any other,
//! the wall clock of this machine as the process began. Either is carried on by the time since boot, which cannot be
//! set. A process that stood still has no fresh reading when it goes on, so that it is late and never early.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use tokio::{sync::watch, time::timeout};

use crate::StoreError;
use toolwire_base::clock;

/// A reading that was asked for longer ago is stale.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Maximum wait for a reading that is not stale.
const READING_TIMEOUT: Duration = Duration::from_secs(1);

/// The largest difference to the wall clock of this machine with which anything begins.
const MAX_SKEW: Duration = Duration::from_secs(10);

/// The clock of a state. Cheap to clone; clones share the reading.
#[derive(Clone, Debug)]
pub(crate) struct Clock(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The state, as shown to operators.
    place: String,
    machine: Machine,
    /// Whether readings of a database replace the first one.
    is_of_database: bool,
    reading: watch::Sender<Reading>,
}

/// The clocks of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    pub(crate) wall: fn() -> SystemTime,
    pub(crate) since_boot: fn() -> Duration,
}

/// What the time was, and when that was learned, since boot.
#[derive(Clone, Copy, Debug)]
enum Reading {
    Carried {
        time: SystemTime,
        asked_at: Duration,
        answered_at: Duration,
    },
    /// By a test.
    Stopped(SystemTime),
}

/// What the clocks of this machine showed when the database was asked for the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    wall: SystemTime,
    asked_at: Duration,
}

impl Default for Machine {
    fn default() -> Self {
        Self { wall: clock::wall, since_boot: clock::since_boot }
    }
}

impl Clock {
    /// A clock that shows the wall clock's time until a database's is read.
    pub(crate) fn new(place: String, machine: Machine, is_of_database: bool) -> Self {
        let at = (machine.since_boot)();
        let first = Reading::Carried { time: (machine.wall)(), asked_at: at, answered_at: at };
        Self(Arc::new(Shared { place, machine, is_of_database, reading: watch::Sender::new(first) }))
    }

    pub(crate) fn now(&self) -> SystemTime {
        match *self.0.reading.borrow() {
            Reading::Carried { time, answered_at, .. } => {
                time + (self.0.machine.since_boot)().saturating_sub(answered_at)
            }
            Reading::Stopped(time) => time,
        }
    }

    /// The time that the database's clock shows now, unless a test has stopped this one.
    pub(crate) fn carried(&self) -> Option<SystemTime> {
        matches!(*self.0.reading.borrow(), Reading::Carried { .. }).then(|| self.now())
    }

    /// Asks for the time, which the database then tells.
    pub(crate) fn ask(&self) -> Question {
        Question { wall: (self.0.machine.wall)(), asked_at: (self.0.machine.since_boot)() }
    }

    /// Sets the clock to the database's answer, and returns the least by which the wall clock of this machine differs.
    pub(crate) fn set(&self, Question { wall, asked_at }: Question, time: SystemTime) -> Duration {
        let answered_at = (self.0.machine.since_boot)();
        self.0.reading.send_if_modified(|reading| {
            let is_carried = matches!(reading, Reading::Carried { .. });
            if is_carried {
                *reading = Reading::Carried { time, asked_at, answered_at };
            }
            is_carried
        });
        let off = |one: SystemTime, other: SystemTime| one.duration_since(other).unwrap_or_default();
        // The database read its clock between the question and the answer.
        off(wall, time).max(off(time, (self.0.machine.wall)()))
    }

    /// Stops at an instant.
    pub(crate) fn stop_at(&self, time: SystemTime) {
        self.0.reading.send_replace(Reading::Stopped(time));
    }

    /// Why nothing may begin by this clock now.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let reading = *self.0.reading.borrow();
        if matches!(reading, Reading::Stopped(_)) {
            return Ok(());
        }
        // First, since a stale one says nothing about the clocks.
        if self.is_stale(&reading) {
            let cause = "its clock could not be read for a second".to_owned();
            return Err(StoreError::Unreachable { place: self.0.place.clone(), cause });
        }
        let (wall, now) = ((self.0.machine.wall)(), self.now());
        let (ahead, behind) = (wall.duration_since(now), now.duration_since(wall));
        let skew = ahead.as_ref().or(behind.as_ref()).copied().unwrap_or_default();
        if skew > MAX_SKEW { Err(self.off_by(skew, ahead.is_ok())) } else { Ok(()) }
    }

    /// The same, after a wait for a reading that is not stale, such as that of a process that stood still.
    pub(crate) async fn check_fresh(&self) -> Result<(), StoreError> {
        if self.is_stale(&self.0.reading.borrow()) {
            let mut readings = self.0.reading.subscribe();
            let _ = timeout(READING_TIMEOUT, readings.wait_for(|reading| !self.is_stale(reading))).await;
        }
        self.check()
    }

    fn is_stale(&self, reading: &Reading) -> bool {
        match reading {
            Reading::Carried { asked_at, .. } if self.0.is_of_database => {
                (self.0.machine.since_boot)().saturating_sub(*asked_at) > MAX_AGE
            }
            _ => false,
        }
    }

    fn off_by(&self, skew: Duration, is_ahead: bool) -> StoreError {
        let (place, seconds) = (self.0.place.clone(), skew.as_secs());
        let (cause, remedy) = if self.0.is_of_database {
            (format!("its clock and this machine's differ by {seconds} s"), "Set the clocks, such as by NTP")
        } else {
            let way = if is_ahead { "forward" } else { "back" };
            let cause = format!("this machine's clock was set {way} by {seconds} s since this process began");
            (cause, "Set it right, or start the process again if it is right now")
        };
        StoreError::Refused { place, cause, remedy: remedy.to_owned() }
    }
}

#[cfg(test)]
mod tests;

//! The clock of the state, as its users read it (`crate::clock`).

use std::time::SystemTime;

use super::Database;
use crate::{
    StoreError,
    clock::{Clock, Machine},
    location::Location,
};

impl Database {
    /// Reads the time of this machine by another clock, so that a test can set it.
    pub fn with_wall_clock(self, wall: fn() -> SystemTime) -> Self {
        Self { clock: of(&self.location, Machine { wall, ..Machine::default() }), ..self }
    }

    /// Stops the clock of the state at an instant, so that a test chooses when something happens.
    pub fn at_time(&self, time: SystemTime) -> &Self {
        self.clock.stop_at(time);
        self
    }

    /// The time by the clock of the state, by which everything in it ends, expires or is forgotten. All processes that
    /// share a state go by the same one.
    pub fn now(&self) -> SystemTime {
        self.clock.now()
    }

    /// Fails while nothing may begin by the clock of the state, which is then [unusable](Self::last_error).
    pub async fn check_clock(&self) -> Result<(), StoreError> {
        self.backend().await?;
        self.rely_on_clock().await
    }

    pub(super) async fn rely_on_clock(&self) -> Result<(), StoreError> {
        self.clock.check_fresh().await.map_err(|error| self.last_error.set(error))
    }

    /// Whether an error that makes the state unusable is one of all processes that share it: of the database, and not
    /// of this machine's clock.
    pub fn is_shared(&self, error: &StoreError) -> bool {
        let refused = |error: &StoreError| matches!(error, StoreError::Refused { .. });
        self.spans_machines()
            && !(refused(error) && self.clock.check().is_err_and(|of_clock| refused(&of_clock)))
    }
}

/// The clock of a state by the clocks of a machine.
pub(super) fn of(location: &Location, machine: Machine) -> Clock {
    Clock::new(location.name(), machine, matches!(location, Location::Postgres(_)))
}

//! The current time of a source: for embedded data it is always the instant it was recorded for.

use std::time::SystemTime;

use toolwire_base::clock;

/// The clock of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Now {
    #[default]
    Wall,
    /// Always this instant.
    Recorded(SystemTime),
}

impl Now {
    /// The present instant by this clock.
    pub fn get(self) -> SystemTime {
        match self {
            Self::Wall => clock::wall(),
            Self::Recorded(instant) => instant,
        }
    }

    /// When the data was recorded, of embedded data.
    pub fn recorded_at(self) -> Option<SystemTime> {
        match self {
            Self::Wall => None,
            Self::Recorded(instant) => Some(instant),
        }
    }

    /// The instant of data that was read at the given one by the wall clock: that of embedded data never changes.
    pub fn of_data_read(self, at: SystemTime) -> SystemTime {
        match self {
            Self::Wall => at,
            Self::Recorded(instant) => instant,
        }
    }
}

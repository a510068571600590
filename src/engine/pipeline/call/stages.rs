//! The stages of a call, each with the instant at which it began. Noting one takes no lock and no memory.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

/// Maximum number of stages that are noted, `Received` not counted; later ones are dropped.
const MOST: usize = 12;

/// The bits of a noted stage that hold its instant, in microseconds after the arrival; those above hold the stage.
const INSTANT_BITS: u32 = 56;

/// What a call does or waits for, until its next stage begins or it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The request has arrived and is read.
    Received,
    /// Right and arguments are checked.
    Checking,
    AwaitingConfirmation,
    /// It is counted in a quota, or waits for a permit of its user.
    AwaitingPermit,
    /// Its beginning is recorded, or it waits for the end of an equal call.
    Recording,
    Executing,
    /// A request went out to a source.
    Requesting,
    /// Its outcome is recorded.
    Committing,
}

/// The stages that begin after the arrival, as their numbers.
const NUMBERED: [Stage; 7] = [
    Stage::Checking,
    Stage::AwaitingConfirmation,
    Stage::AwaitingPermit,
    Stage::Recording,
    Stage::Executing,
    Stage::Requesting,
    Stage::Committing,
];

/// The stages of a call while it runs.
#[derive(Debug, Default)]
pub(super) struct StageLog {
    arrived: OnceLock<Instant>,
    count: AtomicU8,
    noted: [AtomicU64; MOST],
}

/// The stages of a call, copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages([u64; MOST]);

impl StageLog {
    /// Sets the arrival, from which instants are counted. Before that nothing is noted.
    pub(super) fn begin(&self, arrived: Instant) {
        let _ = self.arrived.set(arrived);
    }

    pub(super) fn note(&self, stage: Stage, now: Instant) {
        let (Some(arrived), Some(number)) = (self.arrived.get(), NUMBERED.iter().position(|it| *it == stage))
        else {
            return;
        };
        // Saturates: an endless retry must not begin again at the first place.
        let at = self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_add(1));
        let Some(slot) = at.ok().and_then(|at| self.noted.get(usize::from(at))) else { return };
        let micros = now.saturating_duration_since(*arrived).as_micros();
        let micros = u64::try_from(micros).unwrap_or(u64::MAX) & ((1 << INSTANT_BITS) - 1);
        slot.store((number as u64 + 1) << INSTANT_BITS | micros, Ordering::Relaxed);
    }

    pub(super) fn copy(&self) -> Stages {
        Stages(std::array::from_fn(|at| self.noted[at].load(Ordering::Relaxed)))
    }
}

impl Stages {
    /// Each stage with the time from the arrival to its beginning, in order of time.
    pub fn list(&self) -> Vec<(Stage, Duration)> {
        let noted = self.0.iter().filter_map(|noted| {
            let number = usize::try_from(noted >> INSTANT_BITS).ok()?.checked_sub(1)?;
            Some((*NUMBERED.get(number)?, Duration::from_micros(noted & ((1 << INSTANT_BITS) - 1))))
        });
        let mut all: Vec<_> = [(Stage::Received, Duration::ZERO)].into_iter().chain(noted).collect();
        // Parallel requests may have noted theirs in another order.
        all.sort_by_key(|(_, after)| *after);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_listed_in_order_of_time_after_the_arrival() {
        let (log, arrived) = (StageLog::default(), toolwire_base::clock::now());
        log.note(Stage::Checking, arrived);
        assert_eq!(log.copy().list(), [(Stage::Received, Duration::ZERO)], "not before the arrival is known");
        log.begin(arrived);
        let after = Duration::from_micros;
        for (stage, at) in [(Stage::Checking, 3), (Stage::Requesting, 90), (Stage::Executing, 20)] {
            log.note(stage, arrived + after(at));
        }
        assert_eq!(
            log.copy().list(),
            [
                (Stage::Received, Duration::ZERO),
                (Stage::Checking, after(3)),
                (Stage::Executing, after(20)),
                (Stage::Requesting, after(90)),
            ]
        );
    }

    #[test]
    fn stages_beyond_the_most_are_dropped() {
        let (log, arrived) = (StageLog::default(), toolwire_base::clock::now());
        log.begin(arrived);
        for at in 0..1_000 {
            log.note(Stage::Requesting, arrived + Duration::from_micros(at));
        }
        let all = log.copy().list();
        assert_eq!((all.len(), all[MOST].1), (MOST + 1, Duration::from_micros(MOST as u64 - 1)));
    }
}

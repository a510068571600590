//! Those who wait for one confirmation, told when it changes: by this process at once, by another one when somebody
//! looks. However many wait, one of them looks for all.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

use toolwire_base::clock;
use toolwire_contract::ConfirmationId;

/// Between two looks of all who wait.
const PAUSE: Duration = Duration::from_millis(250);

/// Places nobody waits at any more are cleared away when there are so many.
const FEW: usize = 64;

#[derive(Debug)]
pub(in crate::sqlite) struct Waiting {
    places: Mutex<Places>,
    pub(super) looked: tokio::sync::Mutex<Looked>,
}

#[derive(Debug)]
struct Places {
    by_id: HashMap<ConfirmationId, watch::Sender<()>>,
    clear_at: usize,
}

/// How far the changes of all processes are seen, and when somebody looked.
#[derive(Debug, Default)]
pub(super) struct Looked {
    pub(super) seen: Option<u64>,
    at: Option<Instant>,
}

impl Default for Waiting {
    fn default() -> Self {
        let places = Mutex::new(Places { by_id: HashMap::new(), clear_at: FEW });
        Self { places, looked: tokio::sync::Mutex::default() }
    }
}

impl Waiting {
    /// Tells, by changing, that this one may have changed.
    pub(super) fn of(&self, id: &ConfirmationId) -> watch::Receiver<()> {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if places.by_id.len() >= places.clear_at {
            places.by_id.retain(|_, place| place.receiver_count() > 0);
            places.clear_at = FEW.max(2 * places.by_id.len());
        }
        places.by_id.entry(id.clone()).or_insert_with(|| watch::Sender::new(())).subscribe()
    }

    /// Tells those who wait for this one.
    pub(super) fn tell(&self, id: &ConfirmationId) {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.by_id.get(id) {
            place.send_replace(());
        }
    }

    pub(super) fn tell_all(&self) {
        for place in self.places.lock().unwrap_or_else(PoisonError::into_inner).by_id.values() {
            place.send_replace(());
        }
    }
}

impl Looked {
    /// Whether it is time to look again; from now on somebody has.
    pub(super) fn is_due(&mut self) -> bool {
        let now = clock::now();
        let is_due = self.at.is_none_or(|at| now - at >= PAUSE);
        if is_due {
            self.at = Some(now);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_is_told_of_that_one_and_of_no_other() {
        let (waiting, one, other) =
            (Waiting::default(), ConfirmationId::generate(), ConfirmationId::generate());
        let (mut of_one, of_other) = (waiting.of(&one), waiting.of(&other));
        waiting.tell(&one);
        assert!(of_one.has_changed().unwrap() && !of_other.has_changed().unwrap());
        of_one.mark_unchanged();
        waiting.tell_all();
        assert!(of_one.has_changed().unwrap() && of_other.has_changed().unwrap());
    }

    #[test]
    fn places_where_nobody_waits_are_cleared_away() {
        let waiting = Waiting::default();
        let stays = waiting.of(&ConfirmationId::generate());
        for _ in 0..10 * FEW {
            drop(waiting.of(&ConfirmationId::generate()));
        }
        assert!(waiting.places.lock().unwrap().by_id.len() <= FEW);
        waiting.tell_all();
        assert!(stays.has_changed().unwrap(), "who waits is not cleared away");
    }
}

//! Readings of the database's clock, by which the state goes, and the warning if this machine's differs.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{address::Address, error::unusable};
use crate::{
    StoreError,
    clock::{Clock, Question},
    last_error::LastError,
    time::instant,
};

/// A difference that is a warning. A larger one, with which nothing begins, is the clock's.
const WARN_SKEW: Duration = Duration::from_secs(1);

/// The database's clock, in milliseconds.
pub(super) const TIME: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::BIGINT";

/// Tells a clock what time it is. Cheap to clone; clones share the last difference.
#[derive(Clone, Debug)]
pub(crate) struct Readings {
    address: Arc<Address>,
    pub(super) clock: Clock,
    pub(super) last_error: LastError,
    is_off: Arc<Mutex<bool>>,
}

impl Readings {
    pub(crate) fn new(address: &Arc<Address>, clock: &Clock, last_error: &LastError) -> Self {
        let (address, clock, last_error) = (Arc::clone(address), clock.clone(), last_error.clone());
        Self { address, clock, last_error, is_off: Arc::default() }
    }

    /// Sets the clock by what the database answered, in milliseconds, and logs if this machine's has begun to differ,
    /// or no longer does. The error is that of a difference with which nothing begins.
    pub(super) fn set(&self, asked: Question, answer: i64) -> Result<(), StoreError> {
        let skew = self.clock.set(asked, instant(answer));
        let is_off = skew > WARN_SKEW;
        let was_off = mem::replace(&mut *self.is_off.lock().unwrap_or_else(PoisonError::into_inner), is_off);
        let (address, skew_ms) = (&self.address, skew.as_millis());
        if is_off && !was_off {
            tracing::warn!(%address, %skew_ms, "the clocks of the database and of this machine differ");
        } else if was_off && !is_off {
            tracing::info!(%address, "the clocks of the database and of this machine agree");
        }
        match self.clock.check() {
            Err(error @ StoreError::Refused { .. }) => Err(error),
            // An answer that was long on its way says how late it is, and the next one is better.
            Err(_) | Ok(()) => Ok(()),
        }
    }

    /// Records why the database cannot be reached, for operators.
    pub(super) fn note_unreachable(&self, error: &sqlx::Error) {
        self.last_error.set_if_changed(unusable(&self.address, error));
    }

    /// Sets it while the state is in use: a difference that is too large makes the state unusable.
    pub(super) fn watch(&self, asked: Question, answer: i64) {
        if let Err(error) = self.set(asked, answer)
            && self.last_error.watch().borrow().is_none()
        {
            self.last_error.set(error);
        }
    }
}

//! Instruments of the state in PostgreSQL.

use std::time::Duration;

use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter};

use super::name;

#[derive(Debug)]
pub(super) struct StateInstruments {
    statements: Counter<u64>,
    retries: Counter<u64>,
    lane_wait: Histogram<f64>,
    lock_timeouts: Counter<u64>,
    acquire_wait: Histogram<f64>,
    listeners: Gauge<u64>,
    available: Gauge<u64>,
}

impl StateInstruments {
    pub(super) fn new(
        meter: &Meter,
        seconds: fn(&Meter, &'static str, &'static str) -> Histogram<f64>,
    ) -> Self {
        let counter = |name, about| meter.u64_counter(name).with_description(about).build();
        let gauge = |name, about| meter.u64_gauge(name).with_description(about).build();
        Self {
            statements: counter(name::STATE_STATEMENTS, "Statements that were sent to the database."),
            retries: counter(name::STATE_RETRIES, "Transactions that ran again because of others."),
            lane_wait: seconds(
                meter,
                name::STATE_LANE_WAIT_DURATION,
                "How long transactions wait for the lock of their lane, until they have begun.",
            ),
            lock_timeouts: counter(name::STATE_LOCK_TIMEOUTS, "Locks that were waited for in vain."),
            acquire_wait: seconds(
                meter,
                name::STATE_ACQUIRE_WAIT_DURATION,
                "How long it takes to get a connection to the database.",
            ),
            listeners: gauge(name::STATE_LISTENERS, "Followers that are notified of commits."),
            available: gauge(name::STATE_AVAILABLE, "1 while the database answers, otherwise 0."),
        }
    }

    pub(super) fn asked(&self) {
        self.statements.add(1, &[]);
    }

    pub(super) fn retried(&self) {
        self.retries.add(1, &[]);
    }

    pub(super) fn lane_waited(&self, duration: Duration) {
        self.lane_wait.record(duration.as_secs_f64(), &[]);
    }

    pub(super) fn lock_timed_out(&self) {
        self.lock_timeouts.add(1, &[]);
    }

    pub(super) fn acquired(&self, duration: Duration) {
        self.acquire_wait.record(duration.as_secs_f64(), &[]);
    }

    pub(super) fn listeners(&self, count: usize) {
        self.listeners.record(count as u64, &[]);
    }

    pub(super) fn available(&self, is_available: bool) {
        self.available.record(is_available.into(), &[]);
    }
}

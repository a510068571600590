//! The metrics, for Prometheus and over OTLP.
//!
//! While metrics are off, every function here costs one load of a pointer. No label holds a user, an argument or
//! anything else that a caller chose: the values are names of registered tools, of configured sources, of methods and
//! of codes. Not here: where the numbers go (`export`), and what stands on a dashboard (`examples/deploy/grafana`).

pub mod export;
mod instruments;
pub mod name;
mod process;
mod state;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry_sdk::metrics::SdkMeterProvider;

use self::instruments::Instruments;

/// The instruments of this process. Not a lazy value over the global provider: a measurement made before the provider
/// is set would switch metrics off for good.
static INSTRUMENTS: OnceLock<Instruments> = OnceLock::new();

/// Registers the instruments with a provider. Only the first one of a process counts.
fn install(provider: &SdkMeterProvider) {
    let meter: Meter = provider.meter("toolwire");
    process::declare(&meter);
    let _ = INSTRUMENTS.set(Instruments::new(&meter));
}

/// An RPC ended; `method` is its full name if it is one of ours, `status` the name of its gRPC status.
pub fn rpc_ended(method: Option<&Arc<str>>, status: &'static str, duration: Duration) {
    with(|it| it.rpc_ended(method, status, duration));
}

/// A request to the HTTP listener ended; `route` is its path as the table of routes has it, `status` that of the
/// answer, 499 if the client had gone.
pub fn http_ended(method: &'static str, route: Option<&'static str>, status: u16, duration: Duration) {
    with(|it| it.http_ended(method, route, status, duration));
}

/// A call ended, nested ones and refused ones included; `tool` is the registered tool if there is one, `code` is `OK`,
/// the error's code or the refusal's reason.
pub fn call_ended(tool: Option<&str>, code: &'static str, duration: Duration) {
    with(|it| it.call_ended(tool, code, duration));
}

/// A tool was executed, which a cached result is not.
pub fn tool_executed(tool: &str, error: Option<&'static str>, duration: Duration) {
    with(|it| it.tool_executed(tool, error, duration));
}

/// The cache was consulted for a tool's result.
pub fn cache_lookup(tool: &str, hit: bool) {
    with(|it| it.cache_lookup(tool, hit));
}

pub fn confirmation_became(state: &'static str) {
    with(|it| it.confirmation_became(state));
}

/// A person decided, this long after the request for confirmation.
pub fn confirmation_decided(duration: Duration) {
    with(|it| it.confirmation_decided(duration));
}

/// A webhook was posted to; `outcome` is `delivered`, `retried` or `given_up`.
pub fn webhook_attempted(outcome: &'static str) {
    with(|it| it.webhook_attempted(outcome));
}

/// A request to a source waited for the limiter; zero if it was admitted at once.
pub fn limiter_wait(source: &str, duration: Duration) {
    with(|it| it.limiter_wait(source, duration));
}

/// A request to a source was rejected by the limiter.
pub fn limiter_refusal(source: &str) {
    with(|it| it.limiter_refusal(source));
}

/// A request to a source ended; `outcome` is `OK` or the name of its failure.
pub fn upstream_request(source: &str, outcome: &'static str, duration: Duration) {
    with(|it| it.upstream_request(source, outcome, duration));
}

/// A source refused us and is left alone from now on; `code` is `AUTH_FAILED` or `BLOCKED`.
pub fn cool_down_began(source: &str, code: &'static str) {
    with(|it| it.cool_down_began(source, code));
}

/// A cool-down of a source for all users began or ended.
pub fn cool_down_in_force(source: &str, in_force: bool) {
    with(|it| it.cool_down_in_force(source, in_force));
}

/// A turn of a conversation ended; `outcome` is that of its reply, `PAUSED`, or the reason of a refusal.
pub fn turn_ended(mode: &'static str, outcome: &'static str, duration: Duration) {
    with(|it| it.turn_ended(mode, outcome, duration));
}

/// A cycle ended after this many calls; `kind` is the kind of work it belongs to.
pub fn cycle_ended(kind: &'static str, calls: u32) {
    with(|it| it.cycle_ended(kind, calls));
}

/// An answer was checked.
pub fn agent_validation(action: &'static str) {
    with(|it| it.agent_validation(action));
}

/// A configured model was asked; `tokens` are those of the request and those of the answer.
pub fn model_asked(model: &str, outcome: &'static str, duration: Duration, tokens: [u64; 2]) {
    with(|it| it.model_asked(model, outcome, duration, tokens));
}

/// A source refused us in the middle of a turn; `code` is `AUTH_FAILED` or `BLOCKED`.
pub fn agent_alert(source: &str, code: &'static str) {
    with(|it| it.agent_alert(source, code));
}

/// A request or a call was refused because of its caller, for this reason.
pub fn request_refused(reason: &'static str) {
    with(|it| it.request_refused(reason));
}

/// A bound of the transport was reached, of this name: something was refused, or closed to make room.
pub fn bound_reached(bound: &'static str) {
    with(|it| it.bound_reached(bound));
}

/// Whether what is on disk, `settings` or `certificates`, cannot come into force, so that earlier ones are in use.
pub fn config_problem(kind: &'static str, is_there: bool) {
    with(|it| it.config_problem(kind, is_there));
}

/// The keys of an issuer were asked for, and are this old by now.
pub fn issuer_keys_age(issuer: &str, age: Duration) {
    with(|it| it.issuer_keys_age(issuer, age));
}

/// Size of the state's write-ahead log, in bytes.
pub fn state_wal_size(bytes: u64) {
    with(|it| it.state_wal_size(bytes));
}

/// A statement was sent to the database of the state; a transaction begins by one and is committed by one.
pub fn state_asked() {
    with(|it| it.state.asked());
}

/// A transaction runs again, since the database rolled it back because of others.
pub fn state_retried() {
    with(|it| it.state.retried());
}

/// A transaction has begun, this long after it began to wait for its lane.
pub fn state_lane_waited(duration: Duration) {
    with(|it| it.state.lane_waited(duration));
}

/// A lock of a lane or of a row was waited for in vain.
pub fn state_lock_timed_out() {
    with(|it| it.state.lock_timed_out());
}

/// A connection to the database of the state was free after this long.
pub fn state_acquired(duration: Duration) {
    with(|it| it.state.acquired(duration));
}

/// Number of followers of the state that are notified of commits.
pub fn state_listeners(count: usize) {
    with(|it| it.state.listeners(count));
}

/// Whether the database of the state answers.
pub fn state_available(is_available: bool) {
    with(|it| it.state.available(is_available));
}

/// Changes the number of open connections by this much.
pub fn connections_open(change: i64) {
    with(|it| it.connections_open(change));
}

/// Counts one call in flight until it is dropped.
#[derive(Debug)]
#[must_use]
pub struct InFlightGauge(());

impl InFlightGauge {
    pub fn begin() -> Self {
        with(|it| it.in_flight(1));
        Self(())
    }
}

impl Drop for InFlightGauge {
    fn drop(&mut self) {
        with(|it| it.in_flight(-1));
    }
}

fn with(record: impl FnOnce(&Instruments)) {
    if let Some(instruments) = INSTRUMENTS.get() {
        record(instruments);
    }
}

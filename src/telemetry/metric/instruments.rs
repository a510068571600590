//! The instruments and the labels of each.

use std::{sync::Arc, time::Duration};

use opentelemetry::{
    KeyValue, StringValue,
    metrics::{Counter, Gauge, Histogram, Meter, UpDownCounter},
};

use super::{
    name::{
        self, ACTION, BOUND, CODE, ISSUER, KIND, MODE, MODEL, OUTCOME, REASON, RESULT, SOURCE, STATE,
        TOKEN_TYPE, TOOL,
    },
    state::StateInstruments,
};
use crate::attribute;

/// Upper bounds of the histograms, in seconds: from a cached read to the longest call.
const BOUNDARIES: [f64; 17] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];

/// Upper bounds for what a person does, in seconds: from a glance to a day.
const PERSON_BOUNDARIES: [f64; 9] = [1.0, 5.0, 15.0, 60.0, 300.0, 600.0, 3_600.0, 21_600.0, 86_400.0];

/// Upper bounds of the calls of a cycle: from none to more than the server allows by default.
const CALL_BOUNDARIES: [f64; 7] = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// Upper bounds of the tokens of a request to a model or of its response.
const TOKEN_BOUNDARIES: [f64; 6] = [64.0, 256.0, 1_024.0, 4_096.0, 16_384.0, 65_536.0];

#[derive(Debug)]
pub(super) struct Instruments {
    rpc_duration: Histogram<f64>,
    http_duration: Histogram<f64>,
    execute_duration: Histogram<f64>,
    call_duration: Histogram<f64>,
    calls_in_flight: UpDownCounter<i64>,
    bounds_reached: Counter<u64>,
    config_problem: Gauge<u64>,
    issuer_keys_age: Gauge<u64>,
    refusals: Counter<u64>,
    connections_open: UpDownCounter<i64>,
    state_wal_size: Gauge<u64>,
    pub(super) state: StateInstruments,
    cache_lookups: Counter<u64>,
    confirmations: Counter<u64>,
    decision_duration: Histogram<f64>,
    limiter_wait: Histogram<f64>,
    limiter_refusals: Counter<u64>,
    upstream_duration: Histogram<f64>,
    cool_downs: Counter<u64>,
    cool_down_in_force: Gauge<u64>,
    webhook_attempts: Counter<u64>,
    turn_duration: Histogram<f64>,
    cycle_invocations: Histogram<f64>,
    validations: Counter<u64>,
    alerts: Counter<u64>,
    model_duration: Histogram<f64>,
    model_tokens: Histogram<f64>,
}

impl Instruments {
    pub(super) fn new(meter: &Meter) -> Self {
        let counter = |name, about| meter.u64_counter(name).with_description(about).build();
        let in_flight = meter.i64_up_down_counter(name::CALLS_IN_FLIGHT);
        let connections = meter.i64_up_down_counter(name::CONNECTIONS_OPEN);
        let gauge = |name, about| meter.u64_gauge(name).with_description(about);
        Self {
            rpc_duration: seconds(meter, name::RPC_SERVER_CALL_DURATION, "How long RPCs take."),
            http_duration: seconds(
                meter,
                name::HTTP_SERVER_REQUEST_DURATION,
                "How long requests to the HTTP listener take.",
            ),
            execute_duration: seconds(
                meter,
                name::EXECUTE_TOOL_DURATION,
                "How long executions of tools take.",
            ),
            call_duration: seconds(meter, name::CALL_DURATION, "How long calls take, whatever answers them."),
            calls_in_flight: in_flight.with_description("Calls that have begun and not ended.").build(),
            bounds_reached: counter(name::BOUNDS_REACHED, "How often a bound of the transport was reached."),
            config_problem: gauge(
                name::CONFIG_PROBLEM,
                "1 while settings or certificates on disk cannot come into force, otherwise 0.",
            )
            .build(),
            issuer_keys_age: gauge(name::ISSUER_KEYS_AGE, "Age of an issuer's keys at their last use.")
                .with_unit("s")
                .build(),
            refusals: counter(name::REFUSALS, "Requests that were refused because of their callers."),
            connections_open: connections.with_description("Connections that are open.").build(),
            state_wal_size: gauge(name::STATE_WAL_SIZE, "Size of the write-ahead log beside the state file.")
                .with_unit("By")
                .build(),
            state: StateInstruments::new(meter, seconds),
            cache_lookups: counter(name::CACHE_LOOKUPS, "How often the cache was asked."),
            webhook_attempts: counter(
                name::WEBHOOK_ATTEMPTS,
                "Attempts to tell webhooks of confirmations, by what came of each.",
            ),
            confirmations: counter(
                name::CONFIRMATIONS,
                "Changes of confirmations, by the state that each led to.",
            ),
            decision_duration: meter
                .f64_histogram(name::CONFIRMATION_DECISION_DURATION)
                .with_unit("s")
                .with_description("How long persons take to decide.")
                .with_boundaries(PERSON_BOUNDARIES.to_vec())
                .build(),
            limiter_wait: seconds(
                meter,
                name::LIMITER_WAIT_DURATION,
                "How long requests wait for their turn at a source.",
            ),
            limiter_refusals: counter(name::LIMITER_REFUSALS, "Requests to sources that got no turn."),
            upstream_duration: seconds(
                meter,
                name::UPSTREAM_REQUEST_DURATION,
                "How long requests to sources take.",
            ),
            turn_duration: seconds(meter, name::TURN_DURATION, "How long turns of conversations take."),
            cycle_invocations: meter
                .f64_histogram(name::CYCLE_INVOCATIONS)
                .with_description("Tool invocations per cycle.")
                .with_boundaries(CALL_BOUNDARIES.to_vec())
                .build(),
            validations: counter(name::AGENT_VALIDATION, "Answers that were checked, by outcome."),
            alerts: counter(name::AGENT_ALERTS, "Sources that refused us in the middle of a turn."),
            model_duration: seconds(meter, name::MODEL_DURATION, "How long models take to answer."),
            model_tokens: meter
                .f64_histogram(name::MODEL_TOKENS)
                .with_description("What models cost, in tokens.")
                .with_boundaries(TOKEN_BOUNDARIES.to_vec())
                .build(),
            cool_downs: counter(name::COOL_DOWNS, "Cool-downs of sources that began."),
            cool_down_in_force: gauge(
                name::COOL_DOWN_IN_FORCE,
                "1 while a source is left alone, otherwise 0.",
            )
            .build(),
        }
    }

    pub(super) fn rpc_ended(&self, method: Option<&Arc<str>>, status: &'static str, duration: Duration) {
        let method = method.map_or(StringValue::from(attribute::OTHER), |name| Arc::clone(name).into());
        let labels = [
            KeyValue::new(attribute::RPC_SYSTEM_NAME, attribute::GRPC),
            KeyValue::new(attribute::RPC_METHOD, method),
            KeyValue::new(attribute::RPC_RESPONSE_STATUS_CODE, status),
        ];
        self.rpc_duration.record(duration.as_secs_f64(), &labels);
    }

    pub(super) fn http_ended(
        &self,
        method: &'static str,
        route: Option<&'static str>,
        status: u16,
        duration: Duration,
    ) {
        let labels = [
            KeyValue::new(attribute::HTTP_REQUEST_METHOD, method),
            KeyValue::new(attribute::HTTP_ROUTE, route.unwrap_or(attribute::OTHER)),
            KeyValue::new(attribute::HTTP_RESPONSE_STATUS_CODE, i64::from(status)),
        ];
        self.http_duration.record(duration.as_secs_f64(), &labels);
    }

    pub(super) fn call_ended(&self, tool: Option<&str>, code: &'static str, duration: Duration) {
        let labels = [text(TOOL, tool.unwrap_or(attribute::OTHER)), KeyValue::new(CODE, code)];
        self.call_duration.record(duration.as_secs_f64(), &labels);
    }

    pub(super) fn tool_executed(&self, tool: &str, error: Option<&'static str>, duration: Duration) {
        let tool = text(attribute::GEN_AI_TOOL_NAME, tool);
        let seconds = duration.as_secs_f64();
        // By the conventions what succeeds has no such attribute.
        match error {
            None => self.execute_duration.record(seconds, &[tool]),
            Some(error) => {
                self.execute_duration.record(seconds, &[tool, KeyValue::new(attribute::ERROR_TYPE, error)]);
            }
        }
    }

    pub(super) fn bound_reached(&self, bound: &'static str) {
        self.bounds_reached.add(1, &[KeyValue::new(BOUND, bound)]);
    }

    pub(super) fn config_problem(&self, kind: &'static str, is_there: bool) {
        self.config_problem.record(is_there.into(), &[KeyValue::new(KIND, kind)]);
    }

    pub(super) fn issuer_keys_age(&self, issuer: &str, age: Duration) {
        self.issuer_keys_age.record(age.as_secs(), &[text(ISSUER, issuer)]);
    }

    pub(super) fn request_refused(&self, reason: &'static str) {
        self.refusals.add(1, &[KeyValue::new(REASON, reason)]);
    }

    pub(super) fn connections_open(&self, change: i64) {
        self.connections_open.add(change, &[]);
    }

    pub(super) fn state_wal_size(&self, bytes: u64) {
        self.state_wal_size.record(bytes, &[]);
    }

    pub(super) fn cache_lookup(&self, tool: &str, hit: bool) {
        let result = if hit { name::HIT } else { name::MISS };
        self.cache_lookups.add(1, &[text(TOOL, tool), KeyValue::new(RESULT, result)]);
    }

    pub(super) fn confirmation_became(&self, state: &'static str) {
        self.confirmations.add(1, &[KeyValue::new(STATE, state)]);
    }

    pub(super) fn confirmation_decided(&self, duration: Duration) {
        self.decision_duration.record(duration.as_secs_f64(), &[]);
    }

    pub(super) fn webhook_attempted(&self, outcome: &'static str) {
        self.webhook_attempts.add(1, &[KeyValue::new(OUTCOME, outcome)]);
    }

    pub(super) fn limiter_wait(&self, source: &str, duration: Duration) {
        self.limiter_wait.record(duration.as_secs_f64(), &[text(SOURCE, source)]);
    }

    pub(super) fn limiter_refusal(&self, source: &str) {
        self.limiter_refusals.add(1, &[text(SOURCE, source)]);
    }

    pub(super) fn upstream_request(&self, source: &str, outcome: &'static str, duration: Duration) {
        let labels = [text(SOURCE, source), KeyValue::new(OUTCOME, outcome)];
        self.upstream_duration.record(duration.as_secs_f64(), &labels);
    }

    pub(super) fn cool_down_began(&self, source: &str, code: &'static str) {
        self.cool_downs.add(1, &[text(SOURCE, source), KeyValue::new(CODE, code)]);
    }

    pub(super) fn cool_down_in_force(&self, source: &str, in_force: bool) {
        self.cool_down_in_force.record(in_force.into(), &[text(SOURCE, source)]);
    }

    pub(super) fn turn_ended(&self, mode: &'static str, outcome: &'static str, duration: Duration) {
        let labels = [KeyValue::new(MODE, mode), KeyValue::new(OUTCOME, outcome)];
        self.turn_duration.record(duration.as_secs_f64(), &labels);
    }

    pub(super) fn cycle_ended(&self, kind: &'static str, calls: u32) {
        self.cycle_invocations.record(calls.into(), &[KeyValue::new(KIND, kind)]);
    }

    pub(super) fn agent_validation(&self, action: &'static str) {
        self.validations.add(1, &[KeyValue::new(ACTION, action)]);
    }

    pub(super) fn model_asked(
        &self,
        model: &str,
        outcome: &'static str,
        duration: Duration,
        [input, output]: [u64; 2],
    ) {
        let labels = [text(MODEL, model), KeyValue::new(OUTCOME, outcome)];
        self.model_duration.record(duration.as_secs_f64(), &labels);
        for (kind, tokens) in [("input", input), ("output", output)] {
            let labels = [text(MODEL, model), KeyValue::new(TOKEN_TYPE, kind)];
            #[allow(clippy::cast_precision_loss, reason = "tokens of one request")]
            self.model_tokens.record(tokens as f64, &labels);
        }
    }

    pub(super) fn agent_alert(&self, source: &str, code: &'static str) {
        self.alerts.add(1, &[text(SOURCE, source), KeyValue::new(CODE, code)]);
    }

    pub(super) fn in_flight(&self, change: i64) {
        self.calls_in_flight.add(change, &[]);
    }
}

fn seconds(meter: &Meter, name: &'static str, about: &'static str) -> Histogram<f64> {
    let histogram = meter.f64_histogram(name).with_unit("s").with_description(about);
    histogram.with_boundaries(BOUNDARIES.to_vec()).build()
}

fn text(key: &'static str, value: &str) -> KeyValue {
    KeyValue::new(key, value.to_owned())
}

#[cfg(test)]
mod tests {
    use opentelemetry::metrics::MeterProvider;
    use prometheus::{Registry, proto::MetricFamily};

    use super::*;
    use crate::metric::export;

    const SECOND: Duration = Duration::from_secs(1);

    /// What Prometheus sees after every function was called.
    fn families() -> Vec<MetricFamily> {
        let registry = Registry::new();
        let provider = export::prometheus_alone(&registry);
        let instruments = Instruments::new(&provider.meter("test"));
        instruments.rpc_ended(None, "OK", SECOND);
        instruments.http_ended("GET", None, 404, SECOND);
        instruments.call_ended(None, "NOT_FOUND", SECOND);
        instruments.tool_executed("get_quotes", Some("BLOCKED"), SECOND);
        instruments.bound_reached("all");
        instruments.config_problem("settings", false);
        instruments.issuer_keys_age("corp", SECOND);
        instruments.request_refused("expired");
        instruments.connections_open(1);
        instruments.state_wal_size(4_096);
        instruments.state.asked();
        instruments.state.retried();
        instruments.state.lane_waited(SECOND);
        instruments.state.lock_timed_out();
        instruments.state.acquired(SECOND);
        instruments.state.listeners(1);
        instruments.state.available(true);
        instruments.cache_lookup("get_quotes", true);
        instruments.confirmation_became("pending");
        instruments.confirmation_decided(SECOND);
        instruments.limiter_wait("toy", SECOND);
        instruments.limiter_refusal("toy");
        instruments.upstream_request("toy", name::OK, SECOND);
        instruments.cool_down_began("toy", "BLOCKED");
        instruments.cool_down_in_force("toy", true);
        instruments.in_flight(1);
        instruments.webhook_attempted("delivered");
        instruments.turn_ended("embedded", "ANSWERED", SECOND);
        instruments.cycle_ended("turn", 2);
        instruments.agent_validation("PASSED");
        instruments.agent_alert("toy", "BLOCKED");
        instruments.model_asked("toy/one", "ok", SECOND, [10, 2]);
        registry.gather()
    }

    #[test]
    fn prometheus_sees_exactly_the_declared_names() {
        let families = families();
        let names: Vec<_> =
            families.iter().map(MetricFamily::name).filter(|&name| name != "target_info").collect();
        assert_eq!(names, name::IN_PROMETHEUS);
    }

    #[test]
    fn what_is_not_registered_is_counted_under_other() {
        let families = families();
        let labels = |family: &str| -> Vec<String> {
            let family = families.iter().find(|it| it.name() == family).unwrap();
            let labels = family.get_metric()[0].get_label();
            labels.iter().map(|label| format!("{}={}", label.name(), label.value())).collect()
        };
        assert_eq!(labels("toolwire_call_duration_seconds"), ["code=NOT_FOUND", "tool=_OTHER"]);
        assert_eq!(
            labels("rpc_server_call_duration_seconds"),
            ["rpc_method=_OTHER", "rpc_response_status_code=OK", "rpc_system_name=grpc"]
        );
        assert_eq!(
            labels("gen_ai_execute_tool_duration_seconds"),
            ["error_type=BLOCKED", "gen_ai_tool_name=get_quotes"]
        );
    }
}

//! Names of instruments and of their labels, in one place.
//!
//! OpenTelemetry semantic conventions where they have a name, otherwise `toolwire.`. Labels that are attributes of
//! spans too stand in `attribute`.

/// How long RPCs take, in seconds.
pub const RPC_SERVER_CALL_DURATION: &str = "rpc.server.call.duration";
/// How long requests to the HTTP listener take, in seconds.
pub const HTTP_SERVER_REQUEST_DURATION: &str = "http.server.request.duration";
/// How long executions of tools take, in seconds.
pub const EXECUTE_TOOL_DURATION: &str = "gen_ai.execute_tool.duration";
/// How long calls take, in seconds, whatever answered them; its count is the number of tool invocations.
pub const CALL_DURATION: &str = "toolwire.call.duration";
/// Calls that have begun and not ended.
pub const CALLS_IN_FLIGHT: &str = "toolwire.calls.in_flight";
/// 1 while settings or certificates on disk cannot come into force, otherwise 0, by kind.
pub const CONFIG_PROBLEM: &str = "toolwire.config.problem";
/// How old the keys of an issuer were when they were last asked for, in seconds.
pub const ISSUER_KEYS_AGE: &str = "toolwire.issuer.keys.age";
pub const CONNECTIONS_OPEN: &str = "toolwire.connections.open";
/// Bytes of the write-ahead log beside the state file.
pub const STATE_WAL_SIZE: &str = "toolwire.state.wal.size";
/// Statements that were sent to the database of the state.
pub const STATE_STATEMENTS: &str = "toolwire.state.statements";
/// Transactions of the state that ran again because of others.
pub const STATE_RETRIES: &str = "toolwire.state.retries";
/// How long transactions wait for the lock of their lane, in seconds, with the round trip that takes it.
pub const STATE_LANE_WAIT_DURATION: &str = "toolwire.state.lane.wait.duration";
/// Locks of lanes and of rows that were waited for in vain.
pub const STATE_LOCK_TIMEOUTS: &str = "toolwire.state.lock_timeouts";
/// How long it takes to get a connection to the database of the state, in seconds.
pub const STATE_ACQUIRE_WAIT_DURATION: &str = "toolwire.state.acquire.wait.duration";
/// Followers that are notified of commits to the database of the state.
pub const STATE_LISTENERS: &str = "toolwire.state.listeners";
/// 1 while the database of the state answers, otherwise 0.
pub const STATE_AVAILABLE: &str = "toolwire.state.available";
/// How often a bound of the transport was reached: something was refused, or closed to make room.
pub const BOUNDS_REACHED: &str = "toolwire.bounds.reached";
/// Requests and calls that were refused because of their callers, by reason.
pub const REFUSALS: &str = "toolwire.refusals";
/// How often the cache was asked.
pub const CACHE_LOOKUPS: &str = "toolwire.cache.lookups";
/// How long requests wait for the limiter of a source, in seconds.
pub const LIMITER_WAIT_DURATION: &str = "toolwire.limiter.wait.duration";
/// Requests that the limiter of a source rejected.
pub const LIMITER_REFUSALS: &str = "toolwire.limiter.refusals";
/// How long requests to sources take, in seconds.
pub const UPSTREAM_REQUEST_DURATION: &str = "toolwire.upstream.request.duration";
/// Changes of confirmations, by the state that each led to.
pub const CONFIRMATIONS: &str = "toolwire.confirmations";
/// Delivery attempts of webhooks of confirmations, by outcome.
pub const WEBHOOK_ATTEMPTS: &str = "toolwire.webhook.attempts";
/// How long persons take to decide, in seconds.
pub const CONFIRMATION_DECISION_DURATION: &str = "toolwire.confirmation.decision.duration";
pub const COOL_DOWNS: &str = "toolwire.cool_downs";
/// 1 during a cool-down of a source for all users, otherwise 0.
pub const COOL_DOWN_IN_FORCE: &str = "toolwire.cool_down.in_force";

/// How long turns of conversations take, in seconds.
pub const TURN_DURATION: &str = "toolwire.agent.turn.duration";
/// How many calls a cycle makes.
pub const CYCLE_INVOCATIONS: &str = "toolwire.cycle.invocations";
/// Answers that were checked, by what became of each.
pub const AGENT_VALIDATION: &str = "toolwire.agent.validation";
/// How long models take to answer, in seconds (`OpenTelemetry`'s name).
pub const MODEL_DURATION: &str = "gen_ai.client.operation.duration";
/// What models cost, in tokens (`OpenTelemetry`'s name).
pub const MODEL_TOKENS: &str = "gen_ai.client.token.usage";
/// Sources that refused us in the middle of a turn.
pub const AGENT_ALERTS: &str = "toolwire.agent.alerts";

/// CPU time of this process, in seconds, by [`CPU_MODE`].
pub const PROCESS_CPU_TIME: &str = "process.cpu.time";
/// Physical memory of this process, in bytes.
pub const PROCESS_MEMORY_USAGE: &str = "process.memory.usage";
/// Threads of this process. Named as Prometheus does: a name that ends in `count` is for histograms there.
pub const PROCESS_THREADS: &str = "process.threads";
/// Tasks of the runtime: connections, calls and background work.
pub const TASKS: &str = "toolwire.tasks";
/// Bytes that wait for peers, in whatever form.
pub const UNREAD: &str = "toolwire.unread";
/// File descriptors that this process has open.
pub const PROCESS_OPEN_FDS: &str = "process.open_fds";

/// A configured model, `provider/name`.
pub const MODEL: &str = "gen_ai.request.model";
/// `input` or `output`.
pub const TOKEN_TYPE: &str = "gen_ai.token.type";
/// `user` or `system`.
pub const CPU_MODE: &str = "cpu.mode";
/// A registered tool, or [`OTHER`](crate::attribute::OTHER).
pub const TOOL: &str = "tool";
/// [`OK`], a tool's error code or a refusal's reason.
pub const CODE: &str = "code";
/// `pending`, `approved`, `used`, `denied`, `expired`, `voided` or `withdrawn`.
pub const STATE: &str = "state";
pub const BOUND: &str = "bound";
/// The name of an issuer, as it is configured.
pub const ISSUER: &str = "issuer";
/// Why somebody was refused, such as `missing` or `tool_not_allowed`.
pub const REASON: &str = "reason";
pub const SOURCE: &str = "source";
/// [`OK`] or the kind of failure.
pub const OUTCOME: &str = "outcome";
/// What plans: `embedded`, `plan` or `native`.
pub const MODE: &str = "mode";
/// The kind of work that a cycle belongs to, such as `turn`; of what is on disk, `settings` or `certificates`.
pub const KIND: &str = "kind";
/// `PASSED`, `ATTRIBUTED`, `REPAIRED` or `REPLACED`.
pub const ACTION: &str = "action";
/// [`HIT`] or [`MISS`].
pub const RESULT: &str = "result";

pub const OK: &str = "OK";
/// The cache had the result.
pub const HIT: &str = "hit";
/// The cache did not have the result.
pub const MISS: &str = "miss";

/// Every metric of the process itself, where there is `/proc`, as Prometheus names it.
pub const PROCESS_IN_PROMETHEUS: &[&str] = &[
    "process_cpu_time_seconds_total",
    "process_memory_usage_bytes",
    "process_threads",
    "process_open_fds",
    "toolwire_tasks",
    "toolwire_unread_bytes",
];

/// Every metric of ours as Prometheus names it; a histogram has the series `_bucket`, `_sum` and `_count`.
pub const IN_PROMETHEUS: &[&str] = &[
    "gen_ai_client_operation_duration_seconds",
    "gen_ai_client_token_usage",
    "gen_ai_execute_tool_duration_seconds",
    "http_server_request_duration_seconds",
    "rpc_server_call_duration_seconds",
    "toolwire_agent_alerts_total",
    "toolwire_agent_turn_duration_seconds",
    "toolwire_agent_validation_total",
    "toolwire_bounds_reached_total",
    "toolwire_cache_lookups_total",
    "toolwire_call_duration_seconds",
    "toolwire_calls_in_flight",
    "toolwire_config_problem",
    "toolwire_confirmation_decision_duration_seconds",
    "toolwire_confirmations_total",
    "toolwire_connections_open",
    "toolwire_cool_down_in_force",
    "toolwire_cool_downs_total",
    "toolwire_cycle_invocations",
    "toolwire_issuer_keys_age_seconds",
    "toolwire_limiter_refusals_total",
    "toolwire_limiter_wait_duration_seconds",
    "toolwire_refusals_total",
    "toolwire_state_acquire_wait_duration_seconds",
    "toolwire_state_available",
    "toolwire_state_lane_wait_duration_seconds",
    "toolwire_state_listeners",
    "toolwire_state_lock_timeouts_total",
    "toolwire_state_retries_total",
    "toolwire_state_statements_total",
    "toolwire_state_wal_size_bytes",
    "toolwire_upstream_request_duration_seconds",
    "toolwire_webhook_attempts_total",
];

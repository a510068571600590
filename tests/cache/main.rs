//! What is cached, for whom and how long, and that equal calls at one time are one execution.
//!
//! A binary of its own: it counts the executions of the whole process.

#[path = "../support/mod.rs"]
mod support;

mod hits;
mod shared;
mod spans;
mod stores;

use std::{
    fmt::Write,
    fs,
    sync::{
        Arc, LazyLock, Mutex as StdMutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use futures_util::future::{BoxFuture, join_all, ready};
use serde_json::{Value, json};
use tokio::{
    sync::{Mutex, MutexGuard},
    time::sleep,
};
use toolwire::{
    base::clock,
    contract::{ErrorCode, Event, Payload, Refusal, Terminal, ToolResult},
    db::StoreError,
    engine::{
        pipeline::{Call, CallSelector, CallStream, Step, Tiers},
        registry::SourceHealth,
    },
    state::{
        MemoryResults,
        results::{ResultKey, Results, StoredResult},
    },
    tool::context::{CallTools, User},
};
use tracing::{Subscriber, field::Visit, span};
use tracing_subscriber::{Layer, layer::Context, layer::SubscriberExt};

use crate::support::{Bench, arguments, stops::Stops};

static STOPS: LazyLock<Stops> = LazyLock::new(Stops::install);
/// The records of executions are the process's, so the tests take turns.
static TURN: Mutex<()> = Mutex::const_new(());

/// Counts what was executed in this test's turn.
struct Turn(#[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Turn {
    async fn take() -> Self {
        let turn = Self(TURN.lock().await);
        STOPS.take(0).await;
        turn
    }

    /// Why each execution since the last look stopped.
    async fn executions(&self) -> Vec<String> {
        STOPS.take(0).await.into_iter().map(|stop| stop.cause).collect()
    }

    #[track_caller]
    fn assert_executions(&self, expected: usize) -> impl Future<Output = ()> {
        let place = std::panic::Location::caller();
        async move {
            let executions = self.executions().await;
            assert_eq!(executions.len(), expected, "{executions:?} at {place}");
        }
    }
}

fn policy(tier: &str, scope: &str) -> Value {
    json!({"cache": {"ttl_s": 600, "tier": tier, "scope": scope}})
}

/// `debug_sleep`, cached for ten minutes.
fn bench(tier: &str, scope: &str) -> Bench {
    Bench::with_manifest("debug_sleep", &policy(tier, scope))
}

fn nap(duration: &str) -> Call {
    Bench::call("debug_sleep", json!({"duration": duration}))
}

/// The same call, by another user.
fn by(user: &str, mut call: Call) -> Call {
    call.context.user = User::new(user.parse().expect("valid"));
    call
}

/// The same call, in a session.
fn within(session: &str, mut call: Call) -> Call {
    call.context.session_id = Some(session.parse().expect("valid"));
    call
}

/// The same call, made so much later.
fn later(seconds: u64, mut call: Call) -> Call {
    call.arrived.wall += Duration::from_secs(seconds);
    call
}

/// The same call, with so much time.
fn having(time: Duration, mut call: Call) -> Call {
    call.context.deadline = call.context.deadline.no_later_than(clock::now() + time);
    call
}

#[track_caller]
fn result(end: Result<Terminal, Refusal>) -> ToolResult {
    match end.expect("not refused") {
        Terminal::Result(result) => result,
        Terminal::ConfirmationRequired(it) => panic!("awaits {it:?}"),
    }
}

#[track_caller]
fn code(end: Result<Terminal, Refusal>) -> ErrorCode {
    result(end).outcome.expect_err("an error").code
}

/// Whether a call is answered from the cache.
async fn is_hit(bench: &Bench, call: Call) -> bool {
    let facts = Arc::clone(&call.facts);
    let result = result(bench.run(call).await);
    assert_eq!(
        facts.is_cache_hit(),
        result.provenance.cached_for.is_some(),
        "the log and the provenance agree"
    );
    facts.is_cache_hit()
}

/// Starts a call; it is under way when this returns.
async fn start(bench: &Bench, call: Call) -> CallStream {
    bench.pipeline.start(call).await.expect("accepted")
}

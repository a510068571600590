//! Cache: reads with a cache policy in their manifest are answered from a tier, and concurrent equal calls share one
//! execution.
//!
//! A hit consumes no quota of a source. Only data is stored, and `NOT_FOUND` for a minute; no other error and no result
//! of an execution that was cut. Not here: caches of the sources themselves.

mod execution;
mod hit;
mod key;
mod tiers;

use std::{sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, Either};
use tracing::{Instrument, field::Empty, info_span};

pub use self::tiers::Tiers;
use self::{
    execution::Executions,
    hit::{decode, hit},
    key::ExecutionKey,
};
use super::{Call, CallResult, Inner};
use crate::registry::{CachePolicy, CacheTier, Category, Registry};
use toolwire_base::middleware::Middleware;
use toolwire_contract::Payload;
use toolwire_state::{
    MemoryResults,
    results::{ResultKey, StoredResult},
};
use toolwire_telemetry::{attribute, metric};

/// Answers calls from the tiers, and passes the rest on, equal calls once.
#[derive(Clone, Debug)]
pub struct Cache(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    tiers: Tiers,
    /// Results recently read from the persistent tier, decoded: its store holds bytes on a disk.
    recent: MemoryResults,
    registry: Arc<Registry>,
    executions: Executions,
}

/// The result of a lookup in a tier.
#[derive(Clone, Debug)]
enum Lookup {
    Hit(Box<StoredResult<Payload>>),
    Miss,
    /// The store failed; this call does not use it again.
    Failed,
}

impl Cache {
    /// Stores results in `tiers`. Their keys contain the digest of the data that `registry` has loaded.
    pub fn new(tiers: Tiers, registry: Arc<Registry>) -> Self {
        let (recent, executions) = (MemoryResults::default(), Executions::default());
        Self(Arc::new(Shared { tiers, recent, registry, executions }))
    }
}

/// What a cache has for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheAnswer {
    /// A result that is fresh, and its age.
    Hit(Duration),
    Miss,
}

impl Cache {
    /// Looks up the result of a call that is not passed on. `None` if its results are not cached.
    pub(super) async fn look_up_alone(&self, call: &Call) -> Option<CacheAnswer> {
        let policy = policy(call)?;
        let key = key_of(call, &policy, &self.0).await;
        Some(match look_up(call, policy.tier, &self.0, &key).await {
            Lookup::Hit(stored) => CacheAnswer::Hit(stored.age(call.arrived.wall)),
            Lookup::Miss | Lookup::Failed => CacheAnswer::Miss,
        })
    }
}

impl<S: Inner> Middleware<Box<Call>, S> for Cache {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        match policy(&call) {
            None => Either::Left(inner.call(call)),
            // A clone, which only an execution makes ready: a hit leaves the ready service unused.
            Some(policy) => Either::Right(Box::pin(answer(self.clone(), policy, call, inner.clone()))),
        }
    }
}

async fn answer(Cache(shared): Cache, policy: CachePolicy, call: Box<Call>, inner: impl Inner) -> CallResult {
    let key = key_of(&call, &policy, &shared).await;
    let store = shared.tiers.of(policy.tier);
    let lookup = look_up(&call, policy.tier, &shared, &key).await;
    metric::cache_lookup(&call.tool().definition.name, matches!(lookup, Lookup::Hit(_)));
    let store = match lookup {
        Lookup::Hit(stored) => return Ok(hit(&call, *stored)),
        Lookup::Miss => Some(Arc::clone(store)),
        Lookup::Failed => None,
    };
    // Boxed: otherwise a hit, the common case, would pay for the size of this future.
    Box::pin(shared.executions.join_or_execute(&call, ExecutionKey::of(key, &call), store, policy.ttl, inner))
        .await
}

async fn key_of(call: &Call, policy: &CachePolicy, shared: &Shared) -> ResultKey {
    let snapshot = call.context.pins.get_or_pin(|| shared.registry.snapshot());
    let tool_state =
        call.tool().executor.as_ref().and_then(|tool| tool.state(&call.arguments, &call.context));
    let tool_state = match tool_state {
        Some(state) => state.await,
        None => String::new(),
    };
    key::of(call, policy, &snapshot, &tool_state)
}

/// The cache policy of the call; only reads have one.
fn policy(call: &Call) -> Option<CachePolicy> {
    let definition = &call.tool().definition;
    definition.cache.filter(|_| definition.category == Category::Read)
}

async fn look_up(call: &Call, tier: CacheTier, shared: &Shared, key: &ResultKey) -> Lookup {
    let span = info_span!(
        "cache",
        { attribute::OTEL_KIND } = attribute::INTERNAL,
        { attribute::CACHE_TIER } = tier.into_str(),
        { attribute::CACHE_HIT } = Empty,
    );
    let is_persistent = tier == CacheTier::Persistent;
    let store = shared.tiers.of(tier);
    let now = store.now().unwrap_or(call.arrived.wall);
    if let Some(stored) = is_persistent.then(|| shared.recent.find(key, now)).flatten() {
        span.record(attribute::CACHE_HIT, true);
        return Lookup::Hit(Box::new(stored));
    }
    let found = store.get(key, now).instrument(span.clone()).await;
    span.record(attribute::CACHE_HIT, matches!(found, Ok(Some(_))));
    match found {
        Ok(Some(stored)) => match decode(call, stored) {
            Some(stored) => {
                if is_persistent {
                    shared.recent.keep(key, &stored);
                }
                Lookup::Hit(Box::new(stored))
            }
            None => Lookup::Miss,
        },
        Ok(None) => Lookup::Miss,
        Err(error) => {
            tracing::warn!(tier = tier.into_str(), %error, "a cache cannot be read; its source is asked instead");
            Lookup::Failed
        }
    }
}

//! Cache: a read whose manifest says so is answered from its tier, and equal calls at one time share one execution
//! (spec 004 §6).
//!
//! A hit spends nothing of a source. What is kept is data, and for a minute that there is none; never another error,
//! and never what ended early. Not here: what a source stores of its own
//! accord.

mod execution;
mod hit;
mod key;
mod tiers;

use std::sync::Arc;

use futures_util::future::{BoxFuture, Either};
use tracing::{Instrument, field::Empty, info_span};

pub use self::tiers::Tiers;
use self::{
    execution::Executions,
    hit::{hit, readable},
    key::ExecutionKey,
};
use super::{Call, CallResult, Inner};
use crate::registry::{CachePolicy, CacheTier, Category, Registry};
use toolwire_base::middleware::Middleware;
use toolwire_contract::Payload;
use toolwire_store::{
    MemoryResults,
    results::{ResultKey, StoredResult},
};
use toolwire_telemetry::{attribute, metric};

/// Answers from the tiers what they know, and passes on the rest, equal calls once.
#[derive(Clone, Debug)]
pub struct Cache(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    tiers: Tiers,
    /// What was read of late from the tier that lasts: its store keeps bytes, on a disk.
    recent: MemoryResults,
    registry: Arc<Registry>,
    executions: Executions,
}

/// What a look into a tier found.
#[derive(Clone, Debug)]
enum Lookup {
    Hit(Box<StoredResult<Payload>>),
    Miss,
    /// The store does not work now, so it is not asked again in this call.
    Failed,
}

impl Cache {
    /// Keeps results in the given tiers, apart by the state of the data that the registry knows of.
    pub fn new(tiers: Tiers, registry: Arc<Registry>) -> Self {
        let (recent, executions) = (MemoryResults::default(), Executions::default());
        Self(Arc::new(Parts { tiers, recent, registry, executions }))
    }
}

impl<S: Inner> Middleware<Call, S> for Cache {
    type Future = Either<S::Future, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Call, inner: &mut S) -> Self::Future {
        match policy(&call) {
            None => Either::Left(inner.call(call)),
            Some(policy) => Either::Right(Box::pin(answer(self.clone(), policy, call, inner.clone()))),
        }
    }
}

async fn answer(Cache(parts): Cache, policy: CachePolicy, call: Call, inner: impl Inner) -> CallResult {
    let snapshot = call.context.pins.get_or_pin(|| parts.registry.snapshot());
    let of_tool = call.tool().executor.as_ref().and_then(|tool| tool.state(&call.arguments, &call.context));
    let of_tool = match of_tool {
        Some(state) => state.await,
        None => String::new(),
    };
    let key = key::of(&call, &policy, &snapshot, &of_tool);
    let store = parts.tiers.of(policy.tier);
    let lookup = look(&call, policy.tier, &parts, &key).await;
    metric::cache_lookup(&call.tool().definition.name, matches!(lookup, Lookup::Hit(_)));
    let store = match lookup {
        Lookup::Hit(stored) => return Ok(hit(&call, *stored)),
        Lookup::Miss => Some(Arc::clone(store)),
        Lookup::Failed => None,
    };
    // Boxed: a hit, the common case, would otherwise pay for the size of this future.
    Box::pin(parts.executions.result(&call, ExecutionKey::of(key, &call), store, policy.ttl, inner)).await
}

/// How results of this call may be kept, if they may.
fn policy(call: &Call) -> Option<CachePolicy> {
    let definition = &call.tool().definition;
    definition.cache.filter(|_| definition.category == Category::Read)
}

async fn look(call: &Call, tier: CacheTier, parts: &Parts, key: &ResultKey) -> Lookup {
    let span = info_span!(
        "cache",
        { attribute::OTEL_KIND } = attribute::INTERNAL,
        { attribute::CACHE_TIER } = tier.into_str(),
        { attribute::CACHE_HIT } = Empty,
    );
    let lasts = tier == CacheTier::Persistent;
    if let Some(stored) = lasts.then(|| parts.recent.find(key, call.arrived.wall)).flatten() {
        span.record(attribute::CACHE_HIT, true);
        return Lookup::Hit(Box::new(stored));
    }
    let found = parts.tiers.of(tier).get(key, call.arrived.wall).instrument(span.clone()).await;
    span.record(attribute::CACHE_HIT, matches!(found, Ok(Some(_))));
    match found {
        Ok(Some(stored)) => match readable(call, stored) {
            Some(stored) => {
                if lasts {
                    parts.recent.keep(key, &stored);
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

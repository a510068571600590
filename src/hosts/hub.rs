//! Where streams of hosts meet the calls and the registry: admission, greeting, and what is left of lost writes.

mod greet;
mod host_info;
mod other_process;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::BoxFuture;
use tokio::{
    sync::{Mutex as AsyncMutex, mpsc, oneshot},
    time::sleep,
};

pub(crate) use self::greet::{Admitted, GreetingReply};
use self::{host_info::Seen, other_process::PendingOutcomes};
pub use self::{
    host_info::{HostInfo, HostState},
    other_process::WriteRecord,
};
use crate::{
    bounds::{MAX_NAMES, SUPERSEDED_RETRY},
    catalogue::Catalogues,
    end::End,
    holder::Tenure,
    pool::{Command, Handle, Pool, leave},
    presence::{Absence, Presence},
    start::Write,
    started_writes::{Key, LateMatch, StartedWrites},
    wire::{self, outcome::Outcome},
};
use toolwire_base::clock;
use toolwire_contract::{Payload, ToolError, convert};
use toolwire_providers::{
    Verdicts,
    bounds::{DEGRADED_AFTER, REMOVED_AFTER},
    ids::{CatalogueId, InstanceId, ProviderName},
};
use toolwire_tool::context::{CallId, Cancellation, StopCause};

/// Makes the tools of providers part of what is served. Implemented over the registry.
pub trait Registrar: Send + Sync {
    /// Checks offers and serves what passes in place of what the provider offered before. When it returns, calls find
    /// the tools, whose calls take only slots of this catalogue.
    fn serve<'a>(
        &'a self,
        hub: &'a Hub,
        provider: &'a ProviderName,
        catalogue: &'a CatalogueId,
        offers: Vec<wire::Offer>,
    ) -> BoxFuture<'a, Verdicts>;

    /// Whether a host without credentials may state this name, and why not.
    fn check_name(&self, provider: &ProviderName) -> Result<(), String>;

    /// Says why calls of the provider's tools will fail, or with `None` that they will not.
    fn set_degraded(&self, provider: &ProviderName, reason: Option<String>);

    /// Takes the provider's tools out, but for those that a file declares.
    fn withdraw(&self, provider: &ProviderName);

    /// The name is free: what was known of a provider without tools is not needed any more.
    fn forget(&self, provider: &ProviderName);
}

/// Replaces the unknown outcome of a write that was recorded. Implemented over the store.
pub trait Settle: Send + Sync {
    /// A write of the provider that this process did not start.
    fn find<'a>(&'a self, provider: &'a ProviderName, call: CallId) -> BoxFuture<'a, WriteRecord>;

    /// Whether the outcome is recorded, or never will be: its host may forget it.
    fn settle<'a>(&'a self, write: &'a Write, outcome: Result<Payload, ToolError>) -> BoxFuture<'a, bool>;
}

/// Cheap to clone; clones share state.
#[derive(Clone)]
pub struct Hub(Arc<Inner>);

struct Inner {
    pool: Pool,
    /// The provider of hosts without credentials, each of which may state another name.
    local: Option<ProviderName>,
    registrar: Arc<dyn Registrar>,
    settle: Arc<dyn Settle>,
    writes: Mutex<StartedWrites>,
    waiting: Mutex<PendingOutcomes>,
    providers: Mutex<HashMap<ProviderName, Arc<Provider>>>,
    /// The grace of a drain is over.
    shutting_down: Cancellation,
}

/// One provider: its greetings take turns, so that offers are checked once.
#[derive(Debug, Default)]
struct Provider {
    greeting: AsyncMutex<CatalogueState>,
    presence: Presence,
    seen: Mutex<Seen>,
}

impl Provider {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.seen)
    }
}

#[derive(Debug, Default)]
struct CatalogueState {
    known: Catalogues,
    verdicts: Verdicts,
    /// Of hosts without credentials.
    tenure: Tenure,
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hub").field(&self.0.pool).finish()
    }
}

impl Hub {
    /// `max_streams` bounds the slots of all providers. Hosts without credentials are of the provider `local`, if there
    /// is one, or of another name that they state.
    pub fn new(
        max_streams: usize,
        local: Option<ProviderName>,
        registrar: Arc<dyn Registrar>,
        settle: Arc<dyn Settle>,
    ) -> Self {
        Self(Arc::new(Inner {
            pool: Pool::new(max_streams),
            local,
            registrar,
            settle,
            writes: Mutex::default(),
            waiting: Mutex::default(),
            providers: Mutex::default(),
            shutting_down: Cancellation::new(),
        }))
    }

    /// Ends all slots, and those that come: their calls are lost. Until then a drain ends them by their connections.
    pub fn shut_down(&self) {
        self.0.shutting_down.cancel(StopCause::Shutdown);
    }

    /// How many slots of a provider take calls, and how many of them are idle.
    pub fn slots(&self, provider: &str) -> (usize, usize) {
        self.0.pool.count(provider)
    }

    pub(crate) fn shutting_down(&self) -> &Cancellation {
        &self.0.shutting_down
    }

    pub fn pool(&self) -> &Pool {
        &self.0.pool
    }

    pub(crate) fn start_write(&self, slot: &Handle, write: Arc<Write>, waiter: oneshot::Sender<Outcome>) {
        let key = key(&slot.provider, &slot.instance, write.call_id);
        lock(&self.0.writes).start(key, write, waiter);
    }

    pub(crate) fn end_write(&self, slot: &Handle, call: CallId) {
        lock(&self.0.writes).end(&key(&slot.provider, &slot.instance, call));
    }

    pub(crate) fn lose_write(&self, slot: &Handle, call: CallId) {
        lock(&self.0.writes).lose(key(&slot.provider, &slot.instance, call), clock::now());
    }

    /// What a host says of a call of a lost slot. Whether it is taken at once; what must be recorded first is answered
    /// by a command, and what cannot be recorded, or is of an unknown call, is not answered.
    pub(crate) fn take_late(
        &self,
        (provider, instance): (&ProviderName, &InstanceId),
        call: CallId,
        outcome: Outcome,
        answer: &mpsc::UnboundedSender<Command>,
    ) -> bool {
        let key = key(provider, instance, call);
        let late = lock(&self.0.writes).take(&key, outcome, clock::now());
        match late {
            LateMatch::OtherProcess(outcome) => {
                self.take_of_other_process(key, outcome, answer);
                false
            }
            LateMatch::Recording | LateMatch::OtherInstance => false,
            LateMatch::Delivered => true,
            LateMatch::Replaces(write, outcome) => {
                let (hub, answer) = (self.clone(), answer.clone());
                tokio::spawn(async move {
                    let result = write.read(outcome).await;
                    let is_recorded = hub.0.settle.settle(&write, result).await;
                    lock(&hub.0.writes).end_settling(&key, is_recorded);
                    if is_recorded {
                        let _ = answer.send(Command::LateTaken(call));
                    }
                });
                false
            }
        }
    }

    /// An outcome that no call waits for any more.
    pub(crate) fn replace(&self, write: Arc<Write>, outcome: Outcome) {
        let hub = self.clone();
        tokio::spawn(async move {
            let result = write.read(outcome).await;
            let _ = hub.0.settle.settle(&write, result).await;
        });
    }

    /// The last slot is gone.
    fn watch_absence(&self, provider: &ProviderName) {
        let (hub, provider, state) = (self.clone(), provider.clone(), self.provider(provider));
        let absence = state.presence.begin_absence();
        tokio::spawn(async move { hub.endure(&provider, &state, absence).await });
    }

    /// Without slots the tools of a provider are first degraded and then withdrawn, unless one comes back.
    async fn endure(&self, provider: &ProviderName, state: &Provider, absence: Absence) {
        let is_absent = || state.presence.is_still(absence) && self.0.pool.count(provider.as_str()).0 == 0;
        sleep(DEGRADED_AFTER).await;
        {
            // A slot that joins meanwhile says that calls do not fail after this says that they do.
            let catalogue = state.greeting.lock().await;
            if !is_absent() {
                return;
            }
            // A host that withdrew its tools before it left has none to degrade.
            if catalogue.verdicts.accepted > 0 {
                tracing::warn!(%provider, "no host is connected: its tools are degraded");
            }
            let reason = format!("no host of `{provider}` is connected");
            self.0.registrar.set_degraded(provider, Some(reason));
        }
        sleep(REMOVED_AFTER.saturating_sub(DEGRADED_AFTER)).await;
        let mut catalogue = state.greeting.lock().await;
        if is_absent() {
            if catalogue.verdicts.accepted > 0 {
                tracing::warn!(%provider, after = ?REMOVED_AFTER, "no host was connected: its tools are removed");
            }
            *catalogue = CatalogueState::default();
            self.0.registrar.withdraw(provider);
        }
    }

    /// Bounds the names that hosts state.
    fn admit_name(&self, name: &ProviderName) -> Result<(), End> {
        let mut providers = lock(&self.0.providers);
        if providers.len() >= MAX_NAMES && !providers.contains_key(name) {
            providers.retain(|name, provider| {
                // The timer of an absence has the provider, and so does a greeting.
                let is_used = Arc::strong_count(provider) > 1 || !self.0.pool.forget(name);
                if !is_used {
                    self.0.registrar.forget(name);
                }
                is_used
            });
            if providers.len() >= MAX_NAMES {
                return Err(End::TooManyNames);
            }
        }
        providers.entry(name.clone()).or_default();
        Ok(())
    }

    fn provider(&self, name: &ProviderName) -> Arc<Provider> {
        Arc::clone(lock(&self.0.providers).entry(name.clone()).or_default())
    }
}

fn key(provider: &ProviderName, instance: &InstanceId, call: CallId) -> Key {
    Key { provider: provider.clone(), instance: instance.clone(), call }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says that another catalogue is in service, and when a look is worth it again.
fn superseded_leave() -> wire::Leave {
    let retry_after = Some(convert::duration(SUPERSEDED_RETRY));
    wire::Leave { retry_after, ..leave("another catalogue is in service") }
}

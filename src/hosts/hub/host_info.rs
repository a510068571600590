//! The hosts of a provider for operators: those with slots, and those that were seen lately and have none.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::Hub;
use crate::{
    bounds::{MAX_SEEN, REFUSED_SEEN, WAITING_SEEN},
    slot::Greeting,
};
use toolwire_base::clock;
use toolwire_providers::ids::{CatalogueId, InstanceId, ProviderName};

/// A program that is a host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostInfo {
    pub instance: InstanceId,
    /// Its library.
    pub sdk: Arc<str>,
    pub catalogue: CatalogueId,
    pub state: HostState,
    pub slots: usize,
    pub idle: usize,
}

/// What a host does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HostState {
    Serving,
    /// Another catalogue is in service.
    Waiting,
    /// Every offer was refused.
    Refused,
}

impl HostState {
    /// How long it is still true of a host that does not come again.
    const fn memory(self) -> Duration {
        match self {
            Self::Refused => REFUSED_SEEN,
            Self::Waiting | Self::Serving => WAITING_SEEN,
        }
    }
}

/// The hosts that were asked to wait, or were refused, as of the last time that they connected.
#[derive(Debug, Default)]
pub(super) struct Seen(HashMap<InstanceId, (Greeting, HostState, Instant)>);

impl Seen {
    pub(super) fn note(&mut self, greeting: &Greeting, state: HostState) {
        self.prune();
        self.forget(&greeting.instance);
        if self.0.len() >= MAX_SEEN {
            let oldest =
                self.0.iter().min_by_key(|(_, (_, _, at))| *at).map(|(instance, _)| instance.clone());
            if let Some(oldest) = oldest {
                self.forget(&oldest);
            }
        }
        self.0.insert(greeting.instance.clone(), (greeting.clone(), state, clock::now()));
    }

    /// Whether another host of the same catalogue was asked to wait, and is still there.
    pub(super) fn has_copy_of(&mut self, greeting: &Greeting) -> bool {
        self.prune();
        let is_copy = |(other, state, _): &(Greeting, HostState, Instant)| {
            *state == HostState::Waiting
                && other.catalogue == greeting.catalogue
                && other.instance != greeting.instance
        };
        self.0.values().any(is_copy)
    }

    /// It has a slot, by which it is known.
    pub(super) fn forget(&mut self, instance: &InstanceId) {
        self.0.remove(instance);
    }

    fn prune(&mut self) {
        let now = clock::now();
        self.0.retain(|_, (_, state, at)| now.saturating_duration_since(*at) < state.memory());
    }

    fn infos(&mut self) -> Vec<HostInfo> {
        self.prune();
        let info =
            |(instance, (greeting, state, _)): (&InstanceId, &(Greeting, HostState, Instant))| HostInfo {
                instance: instance.clone(),
                sdk: greeting.sdk.as_str().into(),
                catalogue: greeting.catalogue.clone(),
                state: *state,
                slots: 0,
                idle: 0,
            };
        self.0.iter().map(info).collect()
    }
}

impl Hub {
    /// The hosts of a provider: those that serve first, each state in order of instance.
    pub fn hosts(&self, provider: &str) -> Vec<HostInfo> {
        let serving = self.pool().hosts(provider).into_iter().map(|(handle, slots, idle)| HostInfo {
            instance: handle.instance,
            sdk: handle.sdk,
            catalogue: handle.catalogue,
            state: HostState::Serving,
            slots,
            idle,
        });
        let mut hosts: Vec<_> = serving.collect();
        let with_slots: BTreeSet<_> = hosts.iter().map(|it| it.instance.clone()).collect();
        let known = super::lock(&self.0.providers).get(provider).cloned();
        let others = known.map(|it| it.seen().infos()).unwrap_or_default();
        hosts.extend(others.into_iter().filter(|it| !with_slots.contains(&it.instance)));
        hosts.sort_by(|one, other| (one.state, &one.instance).cmp(&(other.state, &other.instance)));
        hosts
    }

    /// The providers that have had hosts.
    pub fn providers(&self) -> Vec<ProviderName> {
        super::lock(&self.0.providers).keys().cloned().collect()
    }
}

//! The tools that providers offer and take back, and the names of those that are awaited.

use std::time::Duration;

use super::{ProviderTool, Provision, Registry, SnapshotInput, lock, providers, requirements::Requirements};
use toolwire_config::ProviderFloor;
use toolwire_contract::Refusal;

/// How long after the start a provider may take to offer its tools.
const AWAITED: Duration = Duration::from_secs(10);
const AWAITED_RETRY: Duration = Duration::from_secs(1);

impl Registry {
    /// Makes the tools of a provider, in place of those that it had, unless it offers some and none can be served. They
    /// are served once `publish_pending` is called, so that changes that come at one time are one.
    pub fn provide(&self, provider: &str, tools: Vec<ProviderTool>) -> Vec<Provision> {
        // Before the lock: a thousand tools take long.
        let requirements = Requirements { approve_unless: &self.approve_unless, floors: &self.floors };
        let made = providers::make(provider, tools, requirements);
        let mut state = lock(&self.state);
        state.is_pending = true;
        let SnapshotInput { tools, providers, .. } = &mut *state;
        providers.replace(provider, made, tools)
    }

    /// Takes the tools of a provider out.
    pub fn withdraw(&self, provider: &str) {
        let mut state = lock(&self.state);
        let had_tools = state.providers.remove(provider);
        if state.sources.set_provider(provider, None) || had_tools {
            self.publish(&mut state);
        }
    }

    /// Serves what providers have changed, unless it is served already.
    pub fn publish_pending(&self) {
        let mut state = lock(&self.state);
        if state.is_pending {
            self.publish(&mut state);
        }
    }

    /// Takes over why calls of a provider's tools will fail; `None` if they will not.
    pub fn set_provider_degraded(&self, provider: &str, reason: Option<String>) {
        let mut state = lock(&self.state);
        if state.sources.set_provider(provider, reason) {
            self.publish(&mut state);
        }
    }

    /// The refusal of a name that the snapshot does not have, with near names that it has. Right after the start it may
    /// be the name of a tool whose provider is not back yet.
    pub fn unknown_tool(&self, name: &str, near: Vec<String>) -> Refusal {
        let name = name.to_owned();
        match self.awaited_provider(&name) {
            Some(provider) => {
                Refusal::ToolAwaited { name, provider: provider.to_owned(), retry_after: AWAITED_RETRY }
            }
            None => Refusal::UnknownTool { name, near },
        }
    }

    fn awaited_provider(&self, name: &str) -> Option<&str> {
        if self.floors.is_empty() || self.opened.elapsed() >= AWAITED {
            return None;
        }
        let state = lock(&self.state);
        let may_own = |floor: &ProviderFloor| floor.tools.iter().any(|pattern| pattern.matches(name));
        let mut awaited = self.floors.iter().filter(|(provider, _)| !state.providers.has_offered(provider));
        awaited.find(|(_, floor)| may_own(floor)).map(|(provider, _)| provider.as_str())
    }
}

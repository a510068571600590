//! What is known of a host's tool when its calls come.

use std::time::Duration;

use crate::{
    ids::{CatalogueId, ProviderName},
    outcome::{Effect, OutputSchema},
};
use toolwire_contract::ToolName;

/// A tool of a provider, by one definition of it. Another definition has another, so that all of a call is by the one
/// that the call was checked by.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) provider: ProviderName,
    /// Only slots of this one know the tool by this definition.
    pub(crate) catalogue: CatalogueId,
    pub(crate) tool: ToolName,
    digest: String,
    effect: Effect,
    /// Whether a cached result of one user answers others.
    pub(crate) is_shared: bool,
    timeout: Duration,
    pub(crate) output: OutputSchema,
}

impl Spec {
    pub(crate) fn new(
        (provider, catalogue, tool): (ProviderName, CatalogueId, ToolName),
        digest: String,
        (effect, is_shared): (Effect, bool),
        timeout: Duration,
        output: OutputSchema,
    ) -> Self {
        Self { provider, catalogue, tool, digest, effect, is_shared, timeout, output }
    }

    pub(crate) fn digest(&self) -> String {
        self.digest.clone()
    }

    pub(crate) fn effect(&self) -> Effect {
        self.effect
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    #[cfg(test)]
    pub(crate) fn of_test(tool: &str, effect: Effect) -> std::sync::Arc<Self> {
        let output = OutputSchema::new(serde_json::json!({"type": "object"})).expect("a schema");
        let names = ("shop".into(), "c1".into(), tool.parse().expect("a name"));
        let timeout = Duration::from_secs(15);
        std::sync::Arc::new(Self::new(names, "d1".to_owned(), (effect, false), timeout, output))
    }
}

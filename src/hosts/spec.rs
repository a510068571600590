//! What is known of a host's tool when its calls come.

use std::{sync::OnceLock, time::Duration};

use crate::{
    ids::ProviderName,
    outcome::{Effect, OutputSchema},
};
use toolwire_contract::ToolName;

/// A tool of a provider, by its definition.
#[derive(Debug)]
pub(crate) struct Spec {
    pub(crate) provider: ProviderName,
    pub(crate) tool: ToolName,
    /// As its host offers it.
    effect: Effect,
    pub(crate) timeout: Duration,
    pub(crate) output: OutputSchema,
    served: OnceLock<Served>,
}

/// What the definition that is served says.
#[derive(Debug)]
struct Served {
    digest: String,
    effect: Effect,
}

impl Spec {
    pub(crate) fn new(
        provider: ProviderName,
        tool: ToolName,
        effect: Effect,
        timeout: Duration,
        output: OutputSchema,
    ) -> Self {
        Self { provider, tool, effect, timeout, output, served: OnceLock::new() }
    }

    /// The definition is made: calls have its digest, and fail by what it says of their effect. A second one is not
    /// taken.
    pub(crate) fn bind(&self, digest: String, effect: Effect) {
        let _ = self.served.set(Served { digest, effect });
    }

    pub(crate) fn digest(&self) -> String {
        self.served.get().map(|served| served.digest.clone()).unwrap_or_default()
    }

    pub(crate) fn effect(&self) -> Effect {
        self.served.get().map_or(self.effect, |served| served.effect)
    }

    #[cfg(test)]
    pub(crate) fn of_test(tool: &str, effect: Effect) -> std::sync::Arc<Self> {
        let output = OutputSchema::new(serde_json::json!({"type": "object"})).expect("a schema");
        let (provider, tool) = ("shop".into(), tool.parse().expect("a name"));
        std::sync::Arc::new(Self::new(provider, tool, effect, Duration::from_secs(15), output))
    }
}

//! A tool that another process executes, as its calls need it.

use std::time::Duration;

use crate::{
    ids::ProviderName,
    outcome::{Effect, OutputSchema},
};
use toolwire_contract::ToolName;

/// A tool of a provider, by one definition of it. Another definition has another, so that all of a call is by the one
/// that the call was checked by.
#[derive(Debug)]
pub struct Spec {
    pub provider: ProviderName,
    pub tool: ToolName,
    pub effect: Effect,
    pub timeout: Duration,
    pub output: OutputSchema,
}

impl Spec {
    #[cfg(test)]
    pub(crate) fn of_test(tool: &str, effect: Effect) -> std::sync::Arc<Self> {
        std::sync::Arc::new(Self {
            provider: "shop".into(),
            tool: tool.parse().expect("a name"),
            effect,
            timeout: Duration::from_secs(15),
            output: OutputSchema::new(serde_json::json!({"type": "object"})).expect("a schema"),
        })
    }
}

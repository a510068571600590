//! A tool that another process executes, as its calls need it.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    ids::ProviderName,
    outcome::{Effect, OutputSchema},
};
use toolwire_contract::ToolName;

/// The definition that is served: a file may say something else than the offer.
#[derive(Clone, Debug)]
pub struct ToolParts {
    pub provider: ProviderName,
    pub tool: ToolName,
    pub effect: Effect,
    pub timeout: Duration,
    /// JSON Schemas, without references.
    pub input: Arc<Value>,
    pub output: Arc<Value>,
}

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
    /// Fails if the output schema does not compile.
    pub fn new(parts: &ToolParts) -> Result<Self, String> {
        let ToolParts { provider, tool, effect, timeout, input: _, output } = parts;
        let output = OutputSchema::new(Arc::clone(output))?;
        Ok(Self {
            provider: provider.clone(),
            tool: tool.clone(),
            effect: *effect,
            timeout: *timeout,
            output,
        })
    }
}

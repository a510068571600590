//! A tool of a host, as the pipeline executes it.

use std::{fmt, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::{
    call::HostCall,
    ids::{CatalogueId, ProviderName},
    outcome::{Effect, OutputSchema},
    pool::Pool,
    spec::Spec,
};
use toolwire_contract::{Payload, Provenance, ToolName, arguments::Arguments};
use toolwire_tool::{
    Executor, Reply, Shape,
    context::{Required, Services, ToolContext, Unfinished},
};

/// Executes calls of one tool on the hosts of its provider.
pub struct HostTool {
    pool: Pool,
    spec: Arc<Spec>,
    input: Arc<Value>,
    output: Arc<Value>,
}

/// What a tool of a host is, by the definition that is served.
#[derive(Clone, Debug)]
pub struct HostToolParts {
    pub provider: ProviderName,
    pub catalogue: CatalogueId,
    pub tool: ToolName,
    /// Identifies the definition.
    pub digest: String,
    pub effect: Effect,
    /// Whether a cached result of one user answers others.
    pub is_shared: bool,
    pub timeout: Duration,
    /// JSON Schemas, without references.
    pub input: Arc<Value>,
    pub output: Arc<Value>,
}

impl HostTool {
    /// Fails if the output schema does not compile.
    pub fn new(pool: Pool, parts: HostToolParts) -> Result<Self, String> {
        let HostToolParts { provider, catalogue, tool, digest, effect, is_shared, timeout, input, output } =
            parts;
        let schema = OutputSchema::new(Arc::clone(&output))?;
        let names = (provider, catalogue, tool);
        let spec = Arc::new(Spec::new(names, digest, (effect, is_shared), timeout, schema));
        Ok(Self { pool, spec, input, output })
    }
}

impl fmt::Debug for HostTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HostTool").field(&self.spec).finish()
    }
}

impl Executor for HostTool {
    fn name(&self) -> &str {
        &self.spec.tool
    }

    fn schema(&self) -> Shape {
        Shape::Json { input: Arc::clone(&self.input), output: Arc::clone(&self.output) }
    }

    fn services(&self) -> Required {
        Required::none()
    }

    fn normalize(&self, _arguments: &mut Arguments, _services: &Services) {}

    fn state<'a>(
        &'a self,
        _arguments: &Arguments,
        _context: &'a ToolContext,
    ) -> Option<BoxFuture<'a, String>> {
        None
    }

    fn execute<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Reply<Payload>, Unfinished>> {
        Box::pin(async move {
            let call = HostCall { pool: &self.pool, spec: &self.spec, context };
            let data = call.carry_out(arguments).await?;
            // The pipeline names the tool as its source.
            Ok(Reply { data, provenance: Provenance::default() })
        })
    }
}

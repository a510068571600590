//! A tool of an MCP server, as the pipeline executes it.

use std::{fmt, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::Value;

use super::{call::McpCall, link::Link, spec::Spec};
use toolwire_contract::{Payload, Provenance, ToolName, arguments::Arguments};
use toolwire_hosts::{Effect, OutputSchema};
use toolwire_tool::{
    Executor, Reply, Shape,
    context::{Required, Services, ToolContext, Unfinished},
};

/// Executes calls of one tool.
pub struct McpTool {
    link: Link,
    spec: Spec,
    input: Arc<Value>,
    output: Arc<Value>,
}

/// What a tool is, by the definition that is served.
#[derive(Clone, Debug)]
pub struct McpToolParts {
    pub tool: ToolName,
    /// Its server's name for it.
    pub name: String,
    pub effect: Effect,
    pub timeout: Duration,
    /// JSON Schemas, without references.
    pub input: Arc<Value>,
    pub output: Arc<Value>,
}

impl McpTool {
    /// Fails if the output schema does not compile.
    pub fn new(link: Link, parts: McpToolParts) -> Result<Self, String> {
        let McpToolParts { tool, name, effect, timeout, input, output } = parts;
        let schema = OutputSchema::new(Arc::clone(&output))?;
        Ok(Self { link, spec: Spec { tool, name, effect, timeout, output: schema }, input, output })
    }
}

impl fmt::Debug for McpTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpTool").field(&self.spec).finish()
    }
}

impl Executor for McpTool {
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
            let call = McpCall { link: &self.link, spec: &self.spec, context };
            let data = call.carry_out(arguments).await?;
            // The pipeline names the tool as its source.
            Ok(Reply { data, provenance: Provenance::default() })
        })
    }
}

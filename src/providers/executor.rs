//! A tool that another process executes, as the pipeline executes it.

use std::{fmt, sync::Arc};

use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::{
    remote::{Call, RemoteTool},
    spec::{Spec, ToolParts},
};
use toolwire_contract::{Payload, Provenance, arguments::Arguments};
use toolwire_tool::{
    Executor, Reply, Shape,
    context::{Required, Services, ToolContext, Unfinished},
};

/// Executes calls of one tool in another process.
pub struct RemoteExecutor<T> {
    tool: T,
    spec: Arc<Spec>,
    input: Arc<Value>,
    output: Arc<Value>,
}

impl<T: RemoteTool> RemoteExecutor<T> {
    /// Fails if the output schema does not compile.
    pub fn new(tool: T, parts: ToolParts) -> Result<Self, String> {
        let spec = Arc::new(Spec::new(&parts)?);
        let ToolParts { input, output, .. } = parts;
        Ok(Self { tool, spec, input, output })
    }
}

impl<T> fmt::Debug for RemoteExecutor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteExecutor").field(&self.spec).finish()
    }
}

impl<T: RemoteTool> Executor for RemoteExecutor<T> {
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
            let data = Call::new(&self.spec, context, arguments)?.carry_out(&self.tool).await?;
            // The pipeline names the tool as its source.
            Ok(Reply { data, provenance: Provenance::default() })
        })
    }
}

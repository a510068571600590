//! A tool of a provider behind the gate of its source: its limits, pauses and cool-downs hold for all tools of it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;

use toolwire_base::clock;
use toolwire_contract::{Payload, arguments::Arguments};
use toolwire_engine::registry::{Definition, MakeExecutor};
use toolwire_sources::upstream::{Gate, sources::Sources};
use toolwire_tool::{
    Executor, Reply, Shape,
    context::{Required, Services, ToolContext, Unfinished},
};

/// The gates of providers, one each, made when its tools first come: hosts without a token state names of their own.
#[derive(Clone)]
pub(super) struct Gates {
    sources: Sources,
    made: Arc<Mutex<HashMap<String, Arc<Gate>>>>,
}

struct GatedTool {
    tool: Arc<dyn Executor>,
    gate: Arc<Gate>,
    timeout: Duration,
}

impl Gates {
    pub(super) fn new(sources: &Sources) -> Self {
        Self { sources: sources.clone(), made: Arc::default() }
    }

    pub(super) fn get(&self, provider: &str) -> Arc<Gate> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let gate = made.entry(provider.to_owned()).or_insert_with(|| Arc::new(self.sources.gate(provider)));
        Arc::clone(gate)
    }

    /// Forgets the gate of a provider without tools.
    pub(super) fn forget(&self, provider: &str) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).remove(provider);
    }

    /// Whether a source has the name that is no provider.
    pub(super) fn is_of_domain(&self, name: &str) -> bool {
        self.sources.is_of_domain(name)
    }
}

/// Makes the same executors, but behind the gate.
pub(super) fn put_behind_gate(gate: Arc<Gate>, make: Arc<MakeExecutor>) -> Arc<MakeExecutor> {
    Arc::new(move |definition: &Definition| {
        let (tool, gate, timeout) = (make(definition)?, Arc::clone(&gate), definition.timeout);
        Ok(Arc::new(GatedTool { tool, gate, timeout }) as Arc<dyn Executor>)
    })
}

impl GatedTool {
    async fn pass(&self, arguments: Arguments, context: &ToolContext) -> Result<Reply<Payload>, Unfinished> {
        // Its caller has the answer by then, and a write of which it knows no end must not begin.
        let until = context.deadline.awaited().min(clock::now() + self.timeout);
        let permit = self.gate.admit(context, until).await?;
        let deadline = context.deadline.awaited_no_later_than(until);
        // The time-out goes on from before the wait.
        let shortened = (deadline != context.deadline).then(|| ToolContext { deadline, ..context.clone() });
        match self.tool.execute(arguments, shortened.as_ref().unwrap_or(context)).await {
            Err(Unfinished::Failed(error)) => {
                Err(self.gate.note(error, permit, &context.user.id).await.into())
            }
            end => end,
        }
    }
}

impl Executor for GatedTool {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn schema(&self) -> Shape {
        self.tool.schema()
    }

    fn services(&self) -> Required {
        self.tool.services()
    }

    fn normalize(&self, arguments: &mut Arguments, services: &Services) {
        self.tool.normalize(arguments, services);
    }

    fn state<'a>(&'a self, arguments: &Arguments, context: &'a ToolContext) -> Option<BoxFuture<'a, String>> {
        self.tool.state(arguments, context)
    }

    fn execute<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Reply<Payload>, Unfinished>> {
        Box::pin(self.pass(arguments, context))
    }
}

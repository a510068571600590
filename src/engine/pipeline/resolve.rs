//! Resolve: name or intent → definition, silently. Whether the caller may know is the next layer's question.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use tower::Service;

use super::{Call, Target};
use crate::registry::{RegisteredTool, Registry, Snapshot};

/// Pins the registry's present state to the call and finds its tool there.
#[derive(Clone, Debug)]
pub struct Layer {
    registry: Arc<Registry>,
}

/// Passes calls on with their definition, if it was found.
#[derive(Clone, Debug)]
pub struct Resolve<S> {
    inner: S,
    registry: Arc<Registry>,
}

impl Layer {
    /// Resolves by the given registry.
    pub fn new(registry: Arc<Registry>) -> Self {
        Self { registry }
    }
}

impl<S> tower::Layer<S> for Layer {
    type Service = Resolve<S>;

    fn layer(&self, inner: S) -> Resolve<S> {
        Resolve { inner, registry: Arc::clone(&self.registry) }
    }
}

impl<S: Service<Call>> Service<Call> for Resolve<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut call: Call) -> S::Future {
        let snapshot = call.context.pins.get_or_pin(|| self.registry.snapshot());
        if let Some(tool) = resolve(&snapshot, &call.target) {
            // 000 passes every parameter of its table; a tool takes those it declares. Others are mistakes.
            if matches!(call.target, Target::Intent(_)) {
                tool.input.drop_undeclared(&mut call.arguments, self.registry.intent_parameters());
            }
            call.facts.resolved(Arc::clone(tool));
        }
        self.inner.call(call)
    }
}

fn resolve<'a>(snapshot: &'a Snapshot, target: &Target) -> Option<&'a Arc<RegisteredTool>> {
    match target {
        Target::Tool(name) => snapshot.get(name),
        Target::Intent(intent) => snapshot.by_intent(intent),
    }
}

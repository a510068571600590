//! Resolve: name or intent → definition, silently. Whether the caller may know is the next layer's question.

use std::sync::Arc;

use super::{Call, Target};
use crate::registry::{RegisteredTool, Registry, Snapshot};

/// Resolves calls by the registry's present state, which it pins to them; one without a tool stays as it is.
pub fn resolve(registry: Arc<Registry>) -> impl Fn(Call) -> Call + Clone {
    move |mut call| {
        let snapshot = call.context.pins.get_or_pin(|| registry.snapshot());
        if let Some(tool) = find(&snapshot, &call.target) {
            // 000 passes every parameter of its table; a tool takes those it declares. Others are mistakes.
            if matches!(call.target, Target::Intent(_)) {
                tool.input.drop_undeclared(&mut call.arguments, registry.intent_parameters());
            }
            call.facts.resolved(Arc::clone(tool));
        }
        call
    }
}

fn find<'a>(snapshot: &'a Snapshot, target: &Target) -> Option<&'a Arc<RegisteredTool>> {
    match target {
        Target::Tool(name) => snapshot.get(name),
        Target::Intent(intent) => snapshot.by_intent(intent),
    }
}

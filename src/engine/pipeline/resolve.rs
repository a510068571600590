//! Resolve: name or intent → definition. An unknown name is not refused here: whether the caller may learn that it is
//! unknown is decided by the next layer.

use std::sync::Arc;

use super::{Call, Target};
use crate::registry::{RegisteredTool, Registry, Snapshot};

/// Resolves calls by the registry's current snapshot, which it pins to them. A call without a tool passes unchanged.
pub fn resolve(registry: Arc<Registry>) -> impl Fn(Box<Call>) -> Box<Call> + Clone {
    move |mut call| {
        let snapshot = call.context.pins.get_or_pin(|| registry.snapshot());
        if let Some(tool) = find(&snapshot, &call.target) {
            // A caller by intent sends every parameter that intents know; those that the tool does not declare are
            // dropped. Any other unknown parameter is an error.
            if matches!(call.target, Target::Intent(_)) {
                tool.input.drop_undeclared(&mut call.arguments, registry.intent_parameters());
            }
            call.facts.set_tool(Arc::clone(tool));
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

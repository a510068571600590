//! A question that a model asks the user: checked like an answer, since nothing else checks it.

use crate::ground::{Checker, ContextBundle, Released};
use toolwire_engine::registry::ToolType;
use toolwire_planner::{Offer, PlanRequest, PlannedCall};

/// The question in place of one that is not grounded.
const UNCLEAR: &str = "Can you say more exactly what you want to know?";

/// The longest question, in characters.
const LONGEST: usize = 2_000;

/// The question of a plan that asks the user. Its other calls are not made.
pub(super) fn question(calls: &[PlannedCall], offer: &Offer) -> Option<String> {
    let asks = |call: &&PlannedCall| {
        offer.get(&call.tool).is_some_and(|tool| tool.definition.kind == ToolType::AskMaster)
    };
    let call = calls.iter().find(asks)?;
    let text = call.arguments.get("question").and_then(|question| question.as_str()).unwrap_or_default();
    Some(text.chars().take(LONGEST).collect())
}

/// The question if it is grounded, or else a general one.
pub(super) fn check(question: &str, bundle: &ContextBundle, request: &PlanRequest<'_>) -> String {
    let mut checker = Checker::of_model(bundle, request);
    let released = [checker.release(question), checker.finish()];
    if released.iter().any(|it| it.issue.is_some()) {
        return UNCLEAR.to_owned();
    }
    let sentences = |it: Released| it.sentences.into_iter().filter(|sentence| !sentence.is_attribution);
    let text: String = released.into_iter().flat_map(sentences).map(|sentence| sentence.text).collect();
    let text = text.trim();
    if text.is_empty() { UNCLEAR.to_owned() } else { text.to_owned() }
}

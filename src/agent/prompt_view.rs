//! A turn as a model sees it: the conversation, and the results of calls in the form for models.

use std::{fmt::Write, sync::Arc};

use super::ground::ContextBundle;
use toolwire_base::offload;
use toolwire_engine::model::{self, LEAST_TOKENS, TextOptions, USUAL_TOKENS};
use toolwire_planner::{ExecutedCall, Offer, PlanRequest};
use toolwire_sources::models::Message;

/// The share of a turn's tokens that one result may take, as a divisor.
const PARTS: u64 = 15;

/// The conversation: the history that fits into a quarter of the tokens, and the message.
pub(super) fn conversation(request: &PlanRequest<'_>, budget: u64) -> Vec<Message> {
    // As many bytes as there are tokens: at four bytes a token that is a quarter of them.
    let mut room = usize::try_from(budget).unwrap_or(usize::MAX);
    let fits = |size: usize, room: &mut usize| room.checked_sub(size).map(|left| *room = left).is_some();
    let newest = request.history.iter().rev();
    let mut kept: Vec<_> =
        newest.take_while(|it| fits(it.said.len() + it.answered.len(), &mut room)).collect();
    kept.reverse();
    let mut messages = Vec::new();
    for exchange in kept {
        messages.push(Message::User(exchange.said.clone()));
        if !exchange.answered.is_empty() {
            messages.push(Message::assistant(exchange.answered.as_str()));
        }
    }
    messages.push(Message::User(request.message.to_owned()));
    messages
}

/// The results of a turn as one message of the system. `None` if there are none.
pub(super) async fn results(request: &PlanRequest<'_>, budget: u64) -> Option<Message> {
    if request.made.is_empty() {
        return None;
    }
    let mut text = "tool_results:".to_owned();
    for made in request.made {
        let call = serde_json::json!({"tool": made.call.tool, "arguments": made.call.arguments});
        let result = result(made, request.offer, budget).await;
        let _ = write!(text, "\n\n{call}\n{result}");
    }
    Some(Message::System(text))
}

/// The most tokens that one result takes of this budget of a turn.
pub(super) fn result_tokens(budget: u64) -> u64 {
    (budget / PARTS).clamp(LEAST_TOKENS, USUAL_TOKENS)
}

pub(super) async fn result(made: &ExecutedCall, offer: &Offer, budget: u64) -> String {
    let schema = offer.get(&made.call.tool).map(|tool| &tool.definition.input_schema);
    let parameters = schema.and_then(|schema| schema.get("properties")?.as_object());
    let narrow_by = parameters.into_iter().flat_map(|it| it.keys().cloned()).collect();
    let max_tokens = result_tokens(budget);
    let (result, wanted) = (Arc::clone(&made.result), TextOptions { max_tokens, narrow_by });
    let size = result.outcome.as_ref().map_or(0, |payload| payload.json_text().len());
    // A token has at least one byte. A result with no more bytes than tokens is not cut, and needs no vocabulary.
    let counted = if size as u64 <= max_tokens { 0 } else { usize::MAX };
    offload::if_large(counted, move || model::text(&result, &wanted)).await
}

/// The sources that an answer may cite, as it cites them.
pub(super) fn sources(bundle: &ContextBundle) -> String {
    bundle.source_ids.iter().map(|id| format!("[{id}]")).collect::<Vec<_>>().join(" ")
}

//! Renders the calls of a turn and their results as messages of the model's conversation.

use crate::prompt_view;
use toolwire_planner::{ByModel, ExecutedCall, PlanRequest};
use toolwire_sources::models::{Message, ToolCall, ToolOutput};

/// The answers of the model so far, each with the results of its calls.
pub(super) async fn steps(request: &PlanRequest<'_>, budget: u64) -> Vec<Message> {
    let mut messages = Vec::new();
    let answer = |made: &ExecutedCall| made.call.by_model.as_ref().map(|it| it.answer);
    let mut at = 0;
    for step in request.made.chunk_by(|a, b| answer(a) == answer(b)) {
        let (mut calls, mut outputs) = (Vec::new(), Vec::new());
        for made in step {
            let call = tool_call(made, at);
            let text = prompt_view::result(made, request.offer, budget).await;
            outputs.push(ToolOutput { call_id: call.id.clone(), tool: call.tool.clone(), text });
            calls.push(call);
            at += 1;
        }
        messages.push(Message::Assistant { text: String::new(), calls });
        messages.push(Message::Results(outputs));
    }
    messages
}

/// The call that was made, the `at`th of the turn. One that was not this model's has a name of ours.
fn tool_call(made: &ExecutedCall, at: usize) -> ToolCall {
    let ByModel { id, signatures, .. } = made.call.by_model.as_deref().cloned().unwrap_or_default();
    ToolCall {
        id: if id.is_empty() { format!("call_{at}") } else { id },
        tool: made.call.tool.clone(),
        arguments: made.call.arguments.clone().into(),
        signatures,
    }
}

//! The payloads of a run's last events: state, result, interrupts and usage; and the results of tools as JSON text.

use serde_json::{Value, json};

use crate::faces::spec_routes::json;
use toolwire_contract::proto::{
    agent::v1::{Paused, PendingCall, Reply},
    v1::{ConsequenceLevel, ToolResult, tool_result::Outcome},
};

/// The result of a tool as a model reads it: `success`, `data` or `error`; text from outside between `_meta` and
/// `nonce`.
pub(super) fn of_result(result: &ToolResult) -> String {
    let provenance = result.provenance.clone().unwrap_or_default();
    let mut content = json!({"success": !matches!(result.outcome, Some(Outcome::Error(_)))});
    if let Some(framing) = &provenance.untrusted_framing {
        content["_meta"] = framing.meta.clone().into();
        content["nonce"] = framing.nonce.clone().into();
    }
    match &result.outcome {
        Some(Outcome::Error(error)) => content["error"] = json::message(error),
        Some(Outcome::DataJson(text)) => content["data"] = json::parse_embedded(text),
        _ => {}
    }
    content["source_ids"] = provenance.source_ids.into();
    content["as_of"] = provenance.as_of.into();
    content.to_string()
}

/// The state of a conversation after a reply.
pub(super) fn state(reply: &Reply) -> Value {
    let response = reply.response.clone().unwrap_or_default();
    json!({
        "current_step": reply.current_step,
        "turn_id": reply.turn_id,
        "citations": response.citations,
        "sources": reply.sources.iter().map(json::message).collect::<Vec<_>>(),
        "confidence": response.confidence,
        "needs_clarification": response.needs_clarification,
        "clarifying_question": response.clarifying_question,
    })
}

/// The same while a person must decide.
pub(super) fn state_of_pause(turn_id: &str) -> Value {
    json!({
        "current_step": "execute",
        "turn_id": turn_id,
        "citations": [],
        "sources": [],
        "confidence": null,
        "needs_clarification": false,
        "clarifying_question": null,
    })
}

/// The result of a run.
pub(super) fn result(reply: &Reply) -> Value {
    json!({
        "turn_id": reply.turn_id,
        "session_id": reply.session_id,
        "outcome": json::word(&reply.outcome()),
        "response": reply.response.as_ref().map(json::message),
        "warnings": reply.warnings,
    })
}

/// The tokens that a model used; empty without a model.
pub(super) fn usage(reply: &Reply) -> Vec<Value> {
    let usage = reply.usage.clone().unwrap_or_default();
    let Some((provider, model)) = usage.model.split_once('/') else { return Vec::new() };
    vec![json!({
        "provider": provider,
        "model": model,
        "inputTokens": usage.input_tokens,
        "outputTokens": usage.output_tokens,
    })]
}

/// The outcome of a run whose calls wait for persons: one interrupt each.
pub(super) fn interrupt(paused: &Paused) -> Value {
    let interrupts: Vec<_> = paused.pending.iter().map(interrupt_of).collect();
    json!({"type": "interrupt", "interrupts": interrupts})
}

fn interrupt_of(call: &PendingCall) -> Value {
    let required = call.confirmation_required.clone().unwrap_or_default();
    let mut properties = json!({"approved": {"type": "boolean"}, "reason": {"type": "string"}});
    let mut needed = vec!["approved"];
    // What has consequences is approved by naming it.
    if required.consequence_level() == ConsequenceLevel::High {
        properties["tool"] = json!({"const": required.tool});
        needed.push("tool");
    }
    let mut interrupt = json!({
        "id": required.confirmation_id,
        "reason": "tool_call",
        "message": required.summary,
        "toolCallId": required.request_id,
        "responseSchema": {"type": "object", "properties": properties, "required": needed},
        "metadata": {
            "tool": required.tool,
            "consequence_level": json::word(&required.consequence_level()),
            "arguments": json::parse_embedded(&required.arguments_json),
        },
    });
    if let Some(at) = required.expires_at {
        interrupt["expiresAt"] = at.to_string().into();
    }
    interrupt
}

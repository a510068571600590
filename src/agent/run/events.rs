//! Renders plans, alerts and pauses as messages of the contract.

use crate::{
    cycle::{PendingApproval, planned_call},
    memory::Pending,
};
use toolwire_base::clock;
use toolwire_contract::{
    ToolError,
    convert::{self, timestamp},
    proto::agent::v1,
};
use toolwire_planner::{Alternative, Offer, Plan, Step};
use toolwire_telemetry::metric;

/// Maximum number of alternatives reported.
const MOST_ALTERNATIVES: usize = 5;

pub(super) fn plan(plan: &Plan, step: u32) -> v1::TurnPlan {
    let calls = match &plan.step {
        Step::Call(calls) | Step::Offer { calls, .. } => calls.iter().map(planned_call).collect(),
        Step::Answer | Step::Say(_) | Step::Clarify(_) | Step::Refuse(_) => Vec::new(),
    };
    let alternative = |it: &Alternative| v1::Alternative { tool: it.tool.clone(), score: it.score };
    v1::TurnPlan {
        step,
        calls,
        reason: plan.reason.clone(),
        confidence: plan.confidence,
        alternatives: plan.alternatives.iter().take(MOST_ALTERNATIVES).map(alternative).collect(),
    }
}

/// The alert about a source that refuses us, which is logged and counted too.
pub(super) fn alert(offer: &Offer, tool: &str, error: &ToolError) -> v1::Alert {
    let source = offer.get(tool).and_then(|tool| tool.definition.source.as_ref());
    let source = source.map_or(tool, |source| source.name.as_str()).to_owned();
    tracing::warn!(source, code = error.code.into_str(), "a source refuses us; the turn makes no more calls");
    metric::agent_alert(&source, error.code.into_str());
    let until = error.retry_after.and_then(|wait| clock::wall().checked_add(wait));
    v1::Alert {
        source,
        code: convert::tool_error(error.clone()).code,
        message: error.message.clone(),
        cool_down_until: until.map(timestamp),
    }
}

/// The event of a pause, and the calls to resume with.
pub(super) fn pause(waiting: &[(Pending, PendingApproval)]) -> (v1::Paused, Vec<Pending>) {
    let pending = waiting.iter().map(|(pending, (call_id, required))| v1::PendingCall {
        call_id: call_id.clone(),
        tool: pending.call.tool.clone(),
        arguments: None,
        arguments_json: serde_json::to_string(&pending.call.arguments).unwrap_or_default(),
        confirmation_required: Some(convert::confirmation_required((**required).clone())),
    });
    let first = waiting.iter().map(|(_, (_, required))| required.expires_at).min();
    let paused =
        v1::Paused { pending: pending.collect(), expires_at: first.map(timestamp), tasks: Vec::new() };
    (paused, waiting.iter().map(|(pending, _)| pending.clone()).collect())
}

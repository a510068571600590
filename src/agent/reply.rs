//! The reply of a turn: the answer, with the results, sources and trace behind it.

use std::collections::BTreeSet;

use prost::Message;

use super::{
    TurnRequest,
    answer::{self, Validated},
    cycle::{self, Cycle, component, planned_call},
    draft::Draft,
    fuller_tools::FullerTools,
    proposal::{Proposal, ProposedCall},
    turn::Outcome,
};
use toolwire_contract::{
    convert::{self, ResultFormat},
    json,
    proto::agent::v1,
};
use toolwire_planner::{ExecutedCall, Offer};
use toolwire_sources::models::Usage;
use toolwire_tool::context::{Ledger, LedgerRow};

/// Maximum size of a reply with JSON text, in bytes. As structures it is at most twice as large, which is below the
/// default message limit of gRPC clients, 4 MiB.
const LARGEST: usize = 1_500_000;

/// Maximum number of warnings in a reply.
const MOST_WARNINGS: usize = 64;

/// The parts that a reply is built from.
pub(super) struct Parts<'a> {
    pub(super) request: &'a TurnRequest,
    pub(super) model: &'a str,
    pub(super) fuller_tools: &'a FullerTools,
    pub(super) usage: Usage,
    pub(super) offer: &'a Offer,
    pub(super) cycle: &'a Cycle,
    pub(super) ledger: &'a Ledger,
    pub(super) draft: &'a Draft,
    pub(super) outcome: Outcome,
}

pub(super) fn reply(parts: &Parts<'_>) -> v1::Reply {
    let Parts { request, cycle, draft, outcome, .. } = *parts;
    let reply = v1::Reply {
        response: Some(response(parts)),
        turn_id: request.turn_id.to_string(),
        session_id: request.session.to_string(),
        // The last step, whatever the outcome.
        current_step: "validate".to_owned(),
        outcome: v1::TurnOutcome::from(outcome).into(),
        tool_results: cycle.made.iter().map(tool_result).collect(),
        sources: sources(cycle),
        context: Some(context(draft)),
        trace: Some(trace(parts)),
        validation: draft.validation.clone(),
        usage: Some(v1::TurnUsage {
            model: parts.model.to_owned(),
            input_tokens: parts.usage.input_tokens,
            output_tokens: parts.usage.output_tokens,
            steps: cycle.steps,
            calls: cycle.calls,
        }),
        warnings: warnings(parts),
        proposal: draft.proposal.as_ref().map(proposal),
    };
    truncate(reply)
}

/// The sources that the answer cites.
pub(super) fn citations(reply: &v1::Reply) -> v1::Citations {
    let cited = reply.response.iter().flat_map(|response| &response.citations);
    let source = |cited: &String| reply.sources.iter().find(|source| source.source_id == *cited);
    v1::Citations { sources: cited.filter_map(source).cloned().collect() }
}

fn response(parts: &Parts<'_>) -> v1::LlmResponse {
    let draft = parts.draft;
    v1::LlmResponse {
        answer_markdown: draft.answer.clone(),
        citations: draft.citations.clone(),
        confidence: confidence(parts),
        needs_clarification: draft.question.is_some(),
        clarifying_question: draft.question.clone(),
    }
}

fn confidence(parts: &Parts<'_>) -> f64 {
    let validated = match parts.draft.validation.as_ref().map(v1::Validation::action) {
        Some(v1::ValidationAction::Replaced) => Validated::Replaced,
        Some(v1::ValidationAction::Repaired) => Validated::Repaired,
        Some(v1::ValidationAction::Attributed) => Validated::Attributed,
        _ => Validated::Passed,
    };
    answer::confidence(parts.draft.confidence, &parts.cycle.made, validated)
}

fn tool_result(made: &ExecutedCall) -> v1::TurnToolResult {
    v1::TurnToolResult {
        tool: made.call.tool.clone(),
        arguments: None,
        arguments_json: cycle::text(&made.call.arguments),
        result: Some(convert::tool_result((*made.result).clone(), ResultFormat::Json)),
    }
}

fn proposal(proposal: &Proposal) -> v1::Proposal {
    let call = |it: &ProposedCall| planned_call(&it.call.clone().into());
    v1::Proposal {
        calls: proposal.calls.iter().map(call).collect(),
        expires_at: Some(convert::timestamp(proposal.expires_at())),
    }
}

/// Every source once, with the first call that returned it.
fn sources(cycle: &Cycle) -> Vec<v1::Source> {
    let mut sources: Vec<v1::Source> = Vec::new();
    for (made, call_id) in cycle.made.iter().zip(&cycle.call_ids) {
        let provenance = &made.result.provenance;
        for source_id in &provenance.source_ids {
            if sources.iter().any(|known| known.source_id == *source_id) {
                continue;
            }
            let converted = convert::provenance(provenance.clone());
            sources.push(v1::Source {
                source_id: source_id.clone(),
                tool: made.call.tool.clone(),
                call_id: call_id.clone(),
                as_of: converted.as_of,
                from_cache: converted.from_cache,
                age: converted.age,
            });
        }
    }
    sources
}

fn context(draft: &Draft) -> v1::ContextBundle {
    let item = |item: &super::ground::ContextItem| v1::ContextItem {
        tool: item.tool.clone(),
        call_id: item.call_id.clone(),
        source_ids: item.source_ids.clone(),
        as_of: item.as_of.clone(),
        r#type: item.kind.clone(),
        data: None,
        data_json: item.data.to_string(),
    };
    v1::ContextBundle {
        items: draft.bundle.items.iter().map(item).collect(),
        source_ids: draft.bundle.source_ids.clone(),
        as_of: draft.bundle.as_of.clone(),
    }
}

fn trace(parts: &Parts<'_>) -> v1::TurnTrace {
    let first = parts.cycle.made.first().map(|made| parts.fuller_tools.original(&made.call.tool));
    let intent = first.map(|tool| parts.offer.get(tool).map_or(tool, |tool| component(tool)));
    v1::TurnTrace {
        intent: intent.unwrap_or_default().to_owned(),
        tools: parts.ledger.rows().into_iter().map(traced_call).collect(),
    }
}

fn traced_call(row: LedgerRow) -> v1::TracedCall {
    let params = row.arguments.as_deref().and_then(|text| serde_json::from_str(text).ok());
    v1::TracedCall {
        component: row.component,
        params: params.as_ref().and_then(json::to_exact_struct),
        latency_ms: u64::try_from(row.took.as_millis()).unwrap_or(u64::MAX),
        source_id: row.source_ids.into_iter().next().unwrap_or_default(),
        call_id: row.call_id.to_string(),
        parent_call_id: row.parent_call_id.map(|id| id.to_string()).unwrap_or_default(),
        error: row.error.unwrap_or_default().to_owned(),
    }
}

/// The warnings of the turn, of its results, and of failed calls: each once. Those of the turn come first, as the bound
/// drops the last.
fn warnings(parts: &Parts<'_>) -> Vec<String> {
    let of = |made: &ExecutedCall| {
        let failed = made.result.outcome.as_ref().err();
        let failed = failed.map(|error| format!("{} failed: {error}", made.call.tool));
        made.result.provenance.warnings.iter().cloned().chain(failed).collect::<Vec<_>>()
    };
    let mut seen = BTreeSet::new();
    let all = parts.draft.warnings.iter().cloned().chain(parts.cycle.made.iter().flat_map(of));
    all.filter(|warning| seen.insert(warning.clone())).take(MOST_WARNINGS).collect()
}

/// Drops results, the last first, until the reply is within [`LARGEST`]; then the data of large contexts. The answer is
/// never cut.
fn truncate(mut reply: v1::Reply) -> v1::Reply {
    if reply.encoded_len() <= LARGEST {
        return reply;
    }
    while reply.encoded_len() > LARGEST && reply.tool_results.pop().is_some() {}
    for item in reply.context.iter_mut().flat_map(|context| &mut context.items).rev() {
        if item.data_json.len() > LARGEST / 16 {
            item.data_json.clear();
        }
    }
    reply
        .warnings
        .push("some results were too large for the reply: they are in the events of their calls".to_owned());
    reply
}

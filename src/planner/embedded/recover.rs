//! The step after calls have ended: answers, asks for a value that a tool refused, or tries the next tool once.

use super::{
    coverage::uncovered,
    decide::{self, calls, read, slot_context},
    follow_up::Before,
};
use crate::{
    ExecutedCall, Plan, PlanRequest, PlannedCall, Step,
    matching::rank::{Candidate, Ranking},
    policy::{self, OnError},
    weights::weights,
};
use toolwire_contract::{ErrorCode, ToolError};

pub(super) fn next(request: &PlanRequest<'_>) -> Plan {
    let failed = |made: &ExecutedCall| made.result.outcome.as_ref().err().cloned();
    let errors: Vec<ToolError> = request.made.iter().filter_map(failed).collect();
    let has_data = errors.len() < request.made.len();
    if has_data {
        return decide::plan(Step::Answer, "there is data to answer from").sure();
    }
    if let Some(question) = errors.iter().find_map(question) {
        return decide::plan(Step::Clarify(question), "a tool cannot take what was said");
    }
    // Another tool may have the data, if each failure is one to go on without.
    let is_skipped = |error: &ToolError| policy::on_error(error.code) == OnError::Skip;
    match errors.iter().all(is_skipped).then(|| instead(request)).flatten() {
        Some(call) => {
            let reason = call.reason.clone();
            decide::plan(Step::Call(vec![call]), &reason)
        }
        None => decide::plan(Step::Answer, "no tool has data"),
    }
}

impl Plan {
    fn sure(self) -> Self {
        Self { confidence: 1.0, ..self }
    }
}

/// The question about arguments that a tool refused.
fn question(error: &ToolError) -> Option<String> {
    if error.code != ErrorCode::InvalidArgument {
        return None;
    }
    let said = error.violations.iter().map(|violation| violation.description.as_str()).collect::<Vec<_>>();
    let said = if said.is_empty() { error.message.clone() } else { said.join("; ") };
    Some(format!("I cannot ask that as it stands: {said}. What do you mean?"))
}

/// A call of the next tool in the ranking, unless another tool has been tried instead already.
fn instead(request: &PlanRequest<'_>) -> Option<PlannedCall> {
    let first = decide::first(&PlanRequest { made: &[], ..*request });
    let Step::Call(planned) = &first.step else { return None };
    let is_planned = |made: &ExecutedCall| planned.iter().any(|call| call.tool == made.call.tool);
    if planned.len() > 1 || !request.made.iter().all(is_planned) {
        return None;
    }
    other(request, &planned[0].tool)
}

/// A call of the best other tool, if it only reads, lacks no parameter and scores near the first.
fn other(request: &PlanRequest<'_>, tool: &str) -> Option<PlannedCall> {
    let (offer, message) = (request.offer, read(request, request.message));
    let before = Before::new(request.history, offer.index(), |said| read(request, said));
    let ranking = Ranking::new(offer.index(), offer.flags(), slot_context(request, &message, &before.named));
    let name = |it: &&Candidate| offer.index().tools[it.tool].tool.definition.name.as_str() != tool;
    let first = ranking.candidates.first()?.score;
    let other = ranking.candidates.iter().find(name)?;
    let indexed = &offer.index().tools[other.tool];
    let is_whole = uncovered(offer, &message, other).is_empty();
    let fits =
        is_whole && indexed.is_read && other.filled.missing.is_empty() && other.filled.correction.is_none();
    let is_near = f64::from(other.score) >= weights().others.near_what_failed * f64::from(first);
    let reason = format!("in place of {tool}, which has no data now");
    (fits && is_near).then(|| calls(indexed, &other.filled, &reason).remove(0))
}

//! The next step once calls have ended: answer, ask for what a tool could not take, or try the next tool once.

use super::{
    decide,
    follow_up::Before,
    route::{calls, read, slot_context},
};
use crate::{
    Made, Plan, PlanRequest, PlannedCall, Step,
    matching::rank::{Candidate, Ranking},
    policy::{self, OnError},
    weights::weights,
};
use toolwire_contract::{ErrorCode, ToolError};

pub(super) fn next(asked: &PlanRequest<'_>) -> Plan {
    let failed = |made: &Made| made.result.outcome.as_ref().err().cloned();
    let errors: Vec<ToolError> = asked.made.iter().filter_map(failed).collect();
    let has_data = errors.len() < asked.made.len();
    if has_data {
        return decide::plan(Step::Answer, "there is data to answer from").sure();
    }
    if let Some(question) = errors.iter().find_map(question) {
        return decide::plan(Step::Clarify(question), "a tool cannot take what was said");
    }
    // Another tool may have what those that are skipped have not.
    let is_skipped = |error: &ToolError| policy::on_error(error.code) == OnError::Skip;
    match errors.iter().all(is_skipped).then(|| instead(asked)).flatten() {
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

/// What a tool could not take, as a question.
fn question(error: &ToolError) -> Option<String> {
    if error.code != ErrorCode::InvalidArgument {
        return None;
    }
    let said = error.violations.iter().map(|violation| violation.description.as_str()).collect::<Vec<_>>();
    let said = if said.is_empty() { error.message.clone() } else { said.join("; ") };
    Some(format!("I cannot ask that as it stands: {said}. What do you mean?"))
}

/// The tool that came next, if it only reads, takes what was said, and none was tried in place of another yet.
fn instead(asked: &PlanRequest<'_>) -> Option<PlannedCall> {
    let first = decide::first(&PlanRequest { made: &[], ..*asked });
    let Step::Call(planned) = &first.step else { return None };
    let is_planned = |made: &Made| planned.iter().any(|call| call.tool == made.call.tool);
    if planned.len() > 1 || !asked.made.iter().all(is_planned) {
        return None;
    }
    other(asked, &planned[0].tool)
}

/// The call of the tool that came next to the given one, if it only reads, lacks no parameter and is near enough.
fn other(asked: &PlanRequest<'_>, tool: &str) -> Option<PlannedCall> {
    let (offer, message) = (asked.offer, read(asked, asked.message));
    let before = Before::new(asked.history, offer.index(), |said| read(asked, said), Vec::new);
    let ranking = Ranking::new(offer.index(), offer.flags(), slot_context(asked, &message, &before.named));
    let name = |it: &&Candidate| offer.index().tools[it.tool].tool.definition.name.as_str() != tool;
    let first = ranking.candidates.first()?.score;
    let other = ranking.candidates.iter().find(name)?;
    let indexed = &offer.index().tools[other.tool];
    let fits = indexed.is_read && other.filled.missing.is_empty() && other.filled.wrong.is_none();
    let is_near = f64::from(other.score) >= weights().others.near_what_failed * f64::from(first);
    let reason = format!("in place of {tool}, which has no data now");
    (fits && is_near).then(|| calls(indexed.tool.definition.name.as_str(), &other.filled, &reason).remove(0))
}

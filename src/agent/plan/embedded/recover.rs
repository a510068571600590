//! The next step once calls have ended: answer, ask for what a tool could not take, or try the next tool once.

use super::decide;
use crate::{
    agent::{
        plan::{Asked, Made, Plan, PlannedCall, Step},
        policy::{self, OnError},
    },
    contract::{ErrorCode, ToolError},
};

/// Another tool is tried only if it is so near the first one.
const NEAR: f64 = 0.6;

/// The next step.
pub(super) fn next(asked: &Asked<'_>) -> Plan {
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
fn instead(asked: &Asked<'_>) -> Option<PlannedCall> {
    let first = decide::first(&Asked { made: &[], ..*asked });
    let Step::Call(planned) = &first.step else { return None };
    let is_planned = |made: &Made| planned.iter().any(|call| call.tool == made.call.tool);
    if planned.len() > 1 || !asked.made.iter().all(is_planned) {
        return None;
    }
    decide::next(asked, &planned[0].tool, NEAR)
}

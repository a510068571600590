//! The five fields of every turn's end (`answer_markdown`, `citations`, …), and how far an answer can be relied upon.

use toolwire_planner::ExecutedCall;

/// How a turn answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Response {
    /// The answer, with citations such as `[tool:quotes:v1]`.
    pub answer_markdown: String,
    /// What it cites, in order of first mention.
    pub citations: Vec<String>,
    /// How far it can be relied upon, 0 to 1.
    pub confidence: f64,
    /// Whether the user should say more.
    pub needs_clarification: bool,
    /// What the user should say.
    pub clarifying_question: Option<String>,
}

/// What became of an answer that was checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Validated {
    /// It stands as it was written.
    Passed,
    /// Citations were put in.
    Attributed,
    /// The answerer rewrote a part of it.
    Repaired,
    /// An answer that needs no model stands instead.
    Replaced,
}

impl Response {
    /// An answer that was checked.
    pub fn new_checked(answer_markdown: String, citations: Vec<String>, confidence: f64) -> Self {
        Self { answer_markdown, citations, confidence, needs_clarification: false, clarifying_question: None }
    }

    /// A question back, after a text.
    pub fn clarify(answer_markdown: String, question: String) -> Self {
        Self {
            needs_clarification: true,
            clarifying_question: Some(question),
            ..Self::new_checked(answer_markdown, Vec::new(), 0.0)
        }
    }
}

/// How far an answer can be relied upon: no further than its plan, the share of its calls that succeeded, and the check
/// that it passed.
#[allow(clippy::cast_precision_loss, reason = "calls of one turn")]
pub fn confidence(plan: f64, made: &[ExecutedCall], validated: Validated) -> f64 {
    let succeeded = made.iter().filter(|made| made.result.outcome.is_ok()).count();
    let share = if made.is_empty() { 1.0 } else { succeeded as f64 / made.len() as f64 };
    let checked = match validated {
        Validated::Passed | Validated::Attributed => 1.0,
        Validated::Repaired => 0.7,
        Validated::Replaced => 0.5,
    };
    plan.min(share).min(checked).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::float_cmp, reason = "chosen, not computed")]
    fn an_answer_is_no_surer_than_its_weakest_part() {
        assert_eq!(confidence(0.9, &[], Validated::Passed), 0.9);
        assert_eq!(confidence(1.0, &[], Validated::Attributed), 1.0);
        assert_eq!(confidence(1.0, &[], Validated::Repaired), 0.7);
        assert_eq!(confidence(0.9, &[], Validated::Replaced), 0.5);
    }
}

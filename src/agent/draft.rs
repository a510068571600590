//! The parts of a reply that a turn has so far. Not here: how they come about (`run`), and the message (`reply`).

use super::{
    ground::{Checker, ContextBundle, Issue},
    proposal::Proposal,
};
use toolwire_contract::proto::agent::v1::Validation;

#[derive(Debug)]
pub(super) struct Draft {
    /// The least confidence of its plans.
    pub(super) confidence: f64,
    /// The sentences that were sent.
    pub(super) answer: String,
    /// The text that is sent if there is no answer.
    pub(super) words: String,
    /// The answer that a model wrote with its plan.
    pub(super) written: Option<String>,
    /// The question to the user.
    pub(super) question: Option<String>,
    pub(super) proposal: Option<Proposal>,
    /// The sources that the answer cites.
    pub(super) citations: Vec<String>,
    pub(super) warnings: Vec<String>,
    /// The results that the answer is made from.
    pub(super) bundle: ContextBundle,
    /// Summed over all attempts; `None` before the first.
    pub(super) validation: Option<Validation>,
    pub(super) checker: Option<Checker>,
    /// The issue of the last attempt.
    pub(super) issue: Option<Issue>,
}

impl Default for Draft {
    fn default() -> Self {
        Self {
            confidence: 1.0,
            answer: String::new(),
            words: String::new(),
            written: None,
            question: None,
            proposal: None,
            citations: Vec::new(),
            warnings: Vec::new(),
            bundle: ContextBundle::default(),
            validation: None,
            checker: None,
            issue: None,
        }
    }
}

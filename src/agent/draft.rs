//! The reply of a turn as far as it is made. Not here: making it (`run`), and its form (`reply`).

use super::{
    ground::{Checker, ContextBundle, Issue},
    proposal::Proposal,
};
use toolwire_contract::proto::agent::v1::Validation;

/// The reply in the making.
#[derive(Debug)]
pub(super) struct Draft {
    /// How sure the least sure plan was.
    pub(super) confidence: f64,
    /// What was given out.
    pub(super) answer: String,
    /// What is said instead of an answer.
    pub(super) words: String,
    /// The answer, where it was written with the plan.
    pub(super) written: Option<String>,
    /// What the user is asked.
    pub(super) question: Option<String>,
    pub(super) proposal: Option<Proposal>,
    /// What the answer cites.
    pub(super) citations: Vec<String>,
    /// What a reader should know.
    pub(super) warnings: Vec<String>,
    /// What the answer is made from.
    pub(super) bundle: ContextBundle,
    /// What was found, and what became of the answer. `None` if there was none.
    pub(super) validation: Option<Validation>,
    pub(super) checker: Option<Checker>,
    /// What is wrong with it.
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

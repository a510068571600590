//! Writing the answer from what a turn found out. Not here: checking it ([`super::ground`]).

mod degradation;
pub mod embedded;
pub(super) mod model_answerer;
pub(super) mod planned_answer;
mod response;

use std::fmt;

use futures_util::stream::BoxStream;

pub use self::{
    degradation::degraded,
    response::{Response, Validated, confidence},
};
use super::ground::{ContextBundle, Issue};
use toolwire_planner::PlanRequest;

pub trait Answerer: Send + Sync + fmt::Debug {
    /// Streams the answer to a message in Markdown. With a problem, what follows the part that has been released.
    fn answer<'a>(
        &'a self,
        request: &'a PlanRequest<'a>,
        bundle: &'a ContextBundle,
        problem: Option<&'a Problem>,
    ) -> BoxStream<'a, Result<String, AnswerError>>;
}

/// Why an answer must be written again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong with it.
    pub issue: Issue,
    /// The part that has passed and has been sent.
    pub released: String,
}

/// No answer could be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct AnswerError {
    /// Why, in words for the caller; nothing of what a model wrote.
    pub reason: String,
    /// Whether the turn may spend no more on an answer.
    pub is_spent: bool,
}

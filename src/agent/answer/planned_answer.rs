//! An answer that came with the plan.

use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};

use super::{AnswerError, Answerer, Problem};
use crate::ground::ContextBundle;
use toolwire_planner::PlanRequest;

/// The text of an answer.
#[derive(Debug)]
pub(crate) struct PlannedAnswer(pub(crate) String);

impl Answerer for PlannedAnswer {
    fn answer<'a>(
        &'a self,
        _asked: &'a PlanRequest<'a>,
        _bundle: &'a ContextBundle,
        _problem: Option<&'a Problem>,
    ) -> BoxStream<'a, Result<String, AnswerError>> {
        stream::iter([Ok(self.0.clone())]).boxed()
    }
}

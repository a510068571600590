//! An answer that was written with the decision to answer.

use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};

use super::{AnswerError, Answerer, Problem};
use crate::ground::ContextBundle;
use toolwire_planner::Asked;

/// The text of an answer.
#[derive(Debug)]
pub(crate) struct Written(pub(crate) String);

impl Answerer for Written {
    fn answer<'a>(
        &'a self,
        _asked: &'a Asked<'a>,
        _bundle: &'a ContextBundle,
        _problem: Option<&'a Problem>,
    ) -> BoxStream<'a, Result<String, AnswerError>> {
        stream::iter([Ok(self.0.clone())]).boxed()
    }
}

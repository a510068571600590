//! An answer that was written with the decision to answer.

use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};

use super::{AnswerError, Answerer, Problem};
use crate::agent::{ground::ContextBundle, plan::Asked};

/// The text of an answer.
#[derive(Debug)]
pub(in crate::agent) struct Written(pub(in crate::agent) String);

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

//! The answerer that needs no model: each tool's template over its context, or else its summary and a table.
//!
//! It adds the warnings of results, the age of copies, and the calls that failed. All of its numbers come from the
//! results, so what it writes passes the checks.

mod cells;
mod filters;
mod general;
pub(crate) mod notes;
pub(crate) mod plain_words;
pub(crate) mod quote;
mod rest;
mod templates;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};

use self::templates::Values;
pub use self::templates::{Folder, Templates};
use super::{AnswerError, Answerer, Problem};
use crate::ground::{ContextBundle, ContextItem};
use toolwire_planner::{ExecutedCall, PlanRequest};

/// The answer if no call has a result or a failure to report.
const NOTHING: &str = "I have nothing to answer from.";

#[derive(Clone, Debug)]
pub struct Embedded {
    templates: Arc<Templates>,
}

impl Embedded {
    pub fn new(templates: Arc<Templates>) -> Self {
        Self { templates }
    }

    /// The parts of an answer: each result with its notes, then the failed calls.
    fn parts(&self, request: &PlanRequest<'_>, bundle: &ContextBundle) -> Vec<String> {
        let succeeded = request.made.iter().filter(|made| made.result.outcome.is_ok());
        let results = succeeded.zip(&bundle.items).flat_map(|(made, item)| {
            let body = self.body(request, made, item);
            std::iter::once(body).chain(notes::of_result(made, &item.source_ids))
        });
        let failures = request.made.iter().filter_map(|made| notes::of_failure(request, made));
        let parts: Vec<_> = results.chain(failures).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { vec![NOTHING.to_owned()] } else { parts }
    }

    fn body(&self, request: &PlanRequest<'_>, made: &ExecutedCall, item: &ContextItem) -> String {
        let title = notes::title_of(request.offer, &item.tool);
        let values = Values { item, title, arguments: &made.call.arguments };
        match self.templates.render(&values) {
            Some(Ok(text)) => text,
            Some(Err(error)) => {
                tracing::warn!(tool = %item.tool, %error, "the template of an answer failed");
                general::body(request, made, item)
            }
            None => general::body(request, made, item),
        }
    }
}

impl Answerer for Embedded {
    fn answer<'a>(
        &'a self,
        request: &'a PlanRequest<'a>,
        bundle: &'a ContextBundle,
        _problem: Option<&'a Problem>,
    ) -> BoxStream<'a, Result<String, AnswerError>> {
        let parts = self.parts(request, bundle);
        let parts = parts.into_iter().enumerate().map(|(at, part)| {
            let gap = if at == 0 { "" } else { "\n\n" };
            Ok(format!("{gap}{part}"))
        });
        stream::iter(parts).boxed()
    }
}

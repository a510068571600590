//! The answerer that needs no model: each tool's template over its context, or else its summary and a table.
//!
//! It says what results warn of, how old copies are, and which calls brought nothing. All of its numbers come from the
//! results, so what it writes passes the checks.

mod cells;
mod filters;
mod general;
mod notes;
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
use toolwire_planner::{Made, PlanRequest};

/// Said where no call brought anything.
const NOTHING: &str = "I have nothing to answer from.";

#[derive(Clone, Debug)]
pub struct Embedded {
    templates: Arc<Templates>,
}

impl Embedded {
    pub fn new(templates: Arc<Templates>) -> Self {
        Self { templates }
    }

    /// The parts of an answer: each result with what is to be known of it, and then what brought nothing.
    fn parts(&self, asked: &PlanRequest<'_>, bundle: &ContextBundle) -> Vec<String> {
        let succeeded = asked.made.iter().filter(|made| made.result.outcome.is_ok());
        let results = succeeded.zip(&bundle.items).flat_map(|(made, item)| {
            let body = self.body(asked, made, item);
            std::iter::once(body).chain(notes::of_result(made, &item.source_ids))
        });
        let failures = asked.made.iter().filter_map(|made| notes::of_failure(asked, made));
        // First, since what follows may be the answer to another question.
        let parts = notes::of_message(asked).into_iter().chain(results).chain(failures);
        let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { vec![NOTHING.to_owned()] } else { parts }
    }

    fn body(&self, asked: &PlanRequest<'_>, made: &Made, item: &ContextItem) -> String {
        let values = Values { item, arguments: &made.call.arguments };
        match self.templates.render(&values) {
            Some(Ok(text)) => text,
            Some(Err(error)) => {
                tracing::warn!(tool = %item.tool, %error, "the template of an answer failed");
                general::body(asked, made, item)
            }
            None => general::body(asked, made, item),
        }
    }
}

impl Answerer for Embedded {
    fn answer<'a>(
        &'a self,
        asked: &'a PlanRequest<'a>,
        bundle: &'a ContextBundle,
        _problem: Option<&'a Problem>,
    ) -> BoxStream<'a, Result<String, AnswerError>> {
        let parts = self.parts(asked, bundle);
        let parts = parts.into_iter().enumerate().map(|(at, part)| {
            let gap = if at == 0 { "" } else { "\n\n" };
            Ok(format!("{gap}{part}"))
        });
        stream::iter(parts).boxed()
    }
}

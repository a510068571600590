//! What an answer may say: the numbers, addresses and sources of one turn.

use std::time::Duration;

use serde_json::Value;

use crate::ground::{bundle::ContextBundle, links::AllowList, names::TurnNames, numbers::Facts};
use toolwire_contract::ToolError;
use toolwire_planner::{ExecutedCall, PlanRequest};

/// The author of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// A model, which may do what it has read.
    Model,
    Ours,
}

/// The facts that an answer may state.
#[derive(Debug, Default)]
pub(super) struct AllowedFacts {
    pub(super) facts: Facts,
    pub(super) allowed: AllowList,
    /// The sources of each result, by the origin of its facts.
    pub(super) origins: Vec<Vec<String>>,
    /// The sources of this turn.
    pub(super) source_ids: Vec<String>,
    /// The names that a model's answer may use. `None` for an answer without a model.
    pub(super) names: Option<TurnNames>,
}

impl AllowedFacts {
    /// Collects the facts of the message and of the whole results of its calls, not only of the parts that a model was
    /// shown. Earlier turns add nothing, since a follow-up calls again.
    pub(super) fn of(bundle: &ContextBundle, request: &PlanRequest<'_>, author: Author) -> Self {
        let mut known = Self { source_ids: bundle.source_ids.clone(), ..Self::default() };
        // What is written here says numbers by filters alone, and counts in words.
        known.facts.is_strict = author == Author::Model;
        known.names = (author == Author::Model).then(|| TurnNames::of(request));
        known.facts.add_free(request.message);
        known.facts.add_free(&request.today.to_string());
        known.facts.add_free(request.account.unwrap_or_default());
        for made in request.made {
            known.add(made, request, author);
        }
        known
    }

    fn add(&mut self, made: &ExecutedCall, request: &PlanRequest<'_>, author: Author) {
        let payload = match &made.result.outcome {
            Ok(payload) => payload,
            Err(error) => return self.add_failure(made, error),
        };
        let (data, provenance) = (payload.json(), &made.result.provenance);
        let tool = request.offer.get(&made.call.tool).map(|tool| &tool.definition);
        let of_tool = tool.into_iter().flat_map(|it| [it.description.as_str(), it.title.as_str()]);
        let warnings = provenance.warnings.iter().map(String::as_str);
        let texts = warnings.chain([provenance.as_of.as_str()]).chain(of_tool);
        let age = provenance.cached_for.into_iter().flat_map(in_all_units);
        self.facts.add_origin(made.call.arguments.values().chain([data]), texts, age);
        if let Some(tool) = tool.filter(|_| self.facts.is_strict) {
            self.facts.add_currencies(&tool.output_schema);
        }
        if author == Author::Model && tool.is_some_and(|tool| tool.untrusted) {
            self.add_whole_addresses(data);
        } else {
            self.allowed.add(data);
        }
        if let Some(names) = &mut self.names {
            made.call.arguments.values().chain([data]).for_each(|value| names.add(value));
            let sources = provenance.source_ids.iter().chain(&provenance.warnings);
            sources.for_each(|text| names.add_text(text));
        }
        self.origins.push(provenance.source_ids.clone());
    }

    /// Of text from outside a model may show the addresses that a field is, and none that a sentence contains.
    fn add_whole_addresses(&mut self, data: &Value) {
        let mut open = vec![data];
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) if !text.contains(char::is_whitespace) => self.allowed.add(value),
                Value::Array(items) => open.extend(items),
                Value::Object(map) => open.extend(map.values()),
                _ => {}
            }
        }
    }

    /// An answer says what failed, and why; that has no source.
    fn add_failure(&mut self, made: &ExecutedCall, error: &ToolError) {
        // Or a model would write into a call that fails what it then passes for known.
        if made.echoes() {
            return;
        }
        self.facts.add_free(&error.message);
        error.violations.iter().for_each(|violation| self.facts.add_free(&violation.description));
        let arguments = made.call.arguments.values().filter(|_| made.call.by_model.is_none());
        arguments.filter_map(|value| value.as_str()).for_each(|it| self.facts.add_free(it));
        let wait = error.retry_after.into_iter().flat_map(in_all_units);
        wait.for_each(|value| self.facts.add_free(&value.to_string()));
    }
}

/// A time as people say it: in seconds, minutes, hours or days.
fn in_all_units(time: Duration) -> [f64; 4] {
    [1.0, 60.0, 3600.0, 86_400.0].map(|unit| time.as_secs_f64() / unit)
}

//! What an answer may say: the numbers, addresses and sources of one turn.

use std::time::Duration;

use crate::{
    agent::{
        ground::{bundle::ContextBundle, links::Allowed, numbers::Facts},
        plan::{Asked, Made},
    },
    contract::ToolError,
};

/// What an answer may say.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) facts: Facts,
    pub(super) allowed: Allowed,
    /// By origin of the facts, the sources of that result.
    pub(super) origins: Vec<Vec<String>>,
    /// The sources of this turn.
    pub(super) source_ids: Vec<String>,
}

impl Known {
    /// Of the message, and of the results of its calls: whole, not as they were shown to a model. Of earlier turns
    /// nothing: a follow-up calls again.
    pub(super) fn of(bundle: &ContextBundle, asked: &Asked<'_>) -> Self {
        let mut known = Self { source_ids: bundle.source_ids.clone(), ..Self::default() };
        known.facts.add_free(asked.message);
        known.facts.add_free(&asked.today.to_string());
        known.facts.add_free(asked.account.unwrap_or_default());
        for made in asked.made {
            known.add(made, asked);
        }
        known
    }

    fn add(&mut self, made: &Made, asked: &Asked<'_>) {
        let payload = match &made.result.outcome {
            Ok(payload) => payload,
            Err(error) => return self.add_failure(made, error),
        };
        let (data, provenance) = (payload.json(), &made.result.provenance);
        let tool = asked.offer.get(&made.call.tool).map(|tool| &tool.definition);
        let of_tool = tool.into_iter().flat_map(|it| [it.description.as_str(), it.title.as_str()]);
        let warnings = provenance.warnings.iter().map(String::as_str);
        let texts = warnings.chain([provenance.as_of.as_str()]).chain(of_tool);
        let age = provenance.cached_for.into_iter().flat_map(in_all_units);
        self.facts.add_origin(made.call.arguments.values().chain([data]), texts, age);
        self.allowed.add(data);
        self.origins.push(provenance.source_ids.clone());
    }

    /// An answer says what failed, and why; nobody is the source of that.
    fn add_failure(&mut self, made: &Made, error: &ToolError) {
        self.facts.add_free(&error.message);
        error.violations.iter().for_each(|violation| self.facts.add_free(&violation.description));
        made.call
            .arguments
            .values()
            .filter_map(|value| value.as_str())
            .for_each(|it| self.facts.add_free(it));
        let wait = error.retry_after.into_iter().flat_map(in_all_units);
        wait.for_each(|value| self.facts.add_free(&value.to_string()));
    }
}

/// A time as people say it: in seconds, minutes, hours or days.
fn in_all_units(time: Duration) -> [f64; 4] {
    [1.0, 60.0, 3600.0, 86_400.0].map(|unit| time.as_secs_f64() / unit)
}

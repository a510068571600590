//! One parameter as messages fill it: what may be said for it, and its bounds.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    agent::plan::embedded::words::is_stop,
    registry::{Extract, ExtractKind, RegisteredTool},
    workspace::terms,
};

/// One parameter that is read from messages.
#[derive(Debug)]
pub(in crate::agent::plan) struct Slot {
    pub(in crate::agent::plan) name: String,
    pub(in crate::agent::plan) extract: Extract,
    pub(in crate::agent::plan) is_required: bool,
    /// Whether it is a list rather than one value.
    pub(in crate::agent::plan) is_list: bool,
    /// The words it may be; empty if it may be any.
    pub(in crate::agent::plan) allowed: Vec<String>,
    /// How many elements it has at least.
    pub(in crate::agent::plan) fewest: usize,
    /// Its bounds, if it is a number.
    pub(in crate::agent::plan) bounds: (f64, f64),
    /// What people say for a value: the terms, and the value. The longest first.
    pub(in crate::agent::plan) phrases: Vec<(Vec<String>, String)>,
}

impl Slot {
    /// What the tool takes.
    pub(in crate::agent::plan) fn all(tool: &Arc<RegisteredTool>) -> Vec<Self> {
        let schema = &tool.definition.input_schema;
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        let slot = |(name, extract): (&String, &Extract)| {
            let property = schema.get("properties")?.get(name)?;
            Some(Self::of(name, extract, property, is_required(name)))
        };
        // In the order of the schema, which is that of the questions.
        let mut slots: Vec<_> = tool.routing.extracts.iter().filter_map(slot).collect();
        slots.sort_by_key(|slot| !slot.is_required);
        slots
    }

    fn of(name: &str, extract: &Extract, property: &Value, is_required: bool) -> Self {
        let texts = |key: &str| {
            let all = property.get(key).and_then(Value::as_array).into_iter().flatten();
            all.filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>()
        };
        let number = |key: &str, without: f64| property.get(key).and_then(Value::as_f64).unwrap_or(without);
        let allowed = texts("enum");
        let values = if allowed.is_empty() { texts("examples") } else { allowed.clone() };
        let fewest = property.get("minItems").and_then(Value::as_u64).and_then(|it| usize::try_from(it).ok());
        Self {
            name: name.to_owned(),
            extract: extract.clone(),
            is_required,
            is_list: property.get("type").is_some_and(|kind| kind == "array"),
            allowed,
            fewest: fewest.unwrap_or(1),
            bounds: (number("minimum", f64::MIN), number("maximum", f64::MAX)),
            phrases: phrases(extract, &values),
        }
    }

    /// Whether it takes names of things.
    pub(in crate::agent::plan) fn takes_names(&self) -> bool {
        matches!(self.extract.kind, ExtractKind::Symbol | ExtractKind::Symbols | ExtractKind::Company)
    }

    /// Whether it takes a time.
    pub(in crate::agent::plan) fn takes_a_time(&self) -> bool {
        matches!(
            self.extract.kind,
            ExtractKind::Since
                | ExtractKind::Until
                | ExtractKind::Days
                | ExtractKind::Quarters
                | ExtractKind::Timeframe
        )
    }

    /// Whether it takes a time that need not end now.
    pub(in crate::agent::plan) fn takes_dates(&self) -> bool {
        self.takes_a_time() && self.extract.kind != ExtractKind::Timeframe
    }

    /// Of which kind the names are that it takes.
    pub(in crate::agent::plan) fn of_kind(&self) -> &str {
        let account = if self.extract.kind == ExtractKind::Account { "account" } else { "" };
        self.extract.of.as_deref().unwrap_or(account)
    }

    /// What is wrong with a number, as a question.
    pub(in crate::agent::plan) fn out_of_bounds(&self, number: f64) -> Option<String> {
        let (least, most) = self.bounds;
        let name = self.name.replace('_', " ");
        (number < least || number > most)
            .then(|| format!("The {name} may be {least} to {most}. How many should it be?"))
    }
}

/// The words of a phrase, in small letters.
fn lower(text: &str) -> Vec<String> {
    terms::words(text).map(|(_, word)| word.to_lowercase()).collect()
}

/// The words of an `extract`, and the values themselves where they may be said.
fn phrases(extract: &Extract, values: &[String]) -> Vec<(Vec<String>, String)> {
    let said =
        extract.words.iter().flat_map(|(value, phrases)| phrases.iter().map(move |it| (lower(it), value)));
    let are_words = matches!(extract.kind, ExtractKind::Words | ExtractKind::Profile);
    // `all` stands in questions of every kind, so it is no value as it is.
    let is_said = |terms: &[String]| are_words && !terms.iter().all(|term| is_stop(term));
    let themselves = values.iter().map(|value| (lower(value), value)).filter(|(terms, _)| is_said(terms));
    let all = said.chain(themselves).filter(|(terms, _)| !terms.is_empty());
    let mut all: Vec<_> = all.map(|(terms, value)| (terms, value.clone())).collect();
    all.sort_by_key(|(terms, _)| std::cmp::Reverse(terms.len()));
    all
}

//! An offer of a host, checked: what the protocol and the providers of models ask of it.
//!
//! What comes out has the form of a manifest, so that the registry checks the rest as it does a file. Not here: whether
//! the provider may own the name, and its floor.

mod label;
mod manifest;
mod schema;

use std::time::Duration;

use prost::Message;
use serde_json::{Map, Value};

use crate::{
    bounds::{
        MAX_DESCRIPTION, MAX_ENTRIES, MAX_EXAMPLES, MAX_OFFER, MAX_PARTS, MAX_PROBLEM_TEXT, MAX_PROBLEMS,
        MAX_VERDICT,
    },
    outcome::{cut, length},
    wire,
};
use manifest::manifest;
use schema::Direction;
use toolwire_contract::{ToolName, json as contract, proto::v1};

/// The characters of a name that a problem repeats.
const MAX_SHOWN: usize = 64;
/// Parts of conditions.
const MAX_CONDITIONS: usize = 2_000;

/// What is wrong with an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// JSON pointer into the offer, schemas as parts of it.
    pub pointer: String,
    pub rule: &'static str,
    pub description: String,
}

impl Problem {
    pub fn new(pointer: impl Into<String>, rule: &'static str, description: impl Into<String>) -> Self {
        let bounded =
            |text: String| if text.len() > MAX_PROBLEM_TEXT { cut(&text, MAX_PROBLEM_TEXT) } else { text };
        Self { pointer: bounded(pointer.into()), rule, description: bounded(description.into()) }
    }
}

/// An offer that nothing is wrong with by itself.
#[derive(Clone, Debug)]
pub struct CheckedOffer {
    pub name: ToolName,
    /// The keys of a manifest, in its form.
    pub manifest: Map<String, Value>,
    /// JSON Schemas without references: closed objects, of the result any.
    pub input: Value,
    pub output: Value,
    /// What should be fixed, though it is served.
    pub warnings: Vec<Problem>,
}

/// Whether an offer without words and classification is served with a warning, as on a machine of one's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    Lenient,
    Strict,
}

/// The kind of peer that made an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// Its host, which can change it: what cannot be checked is refused.
    Host,
    /// A server, which checks what it gets itself: what cannot be checked here is left to it, with a warning.
    Server,
}

/// The parts of schemas and conditions that the rest of a catalogue may have: each is held for as long as it is served,
/// and references make many of a short text.
#[derive(Debug)]
pub struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MAX_PARTS)
    }
}

impl Budget {
    /// Spends what there is of it. Whether that was enough.
    fn spend(&mut self, parts: usize) -> bool {
        let is_enough = parts <= self.0;
        self.0 = self.0.saturating_sub(parts);
        is_enough
    }
}

/// Checks an offer, or says what is wrong with it.
pub fn check(
    offer: &wire::Offer,
    (strictness, author): (Strictness, Author),
    budget: &mut Budget,
) -> Result<CheckedOffer, Vec<Problem>> {
    // Before anything is made of it.
    refuse_large(offer)?;
    let mut report = Report { adapts: author == Author::Server, ..Report::default() };
    let name = offer.name.parse::<ToolName>().map_err(|error| {
        report.refuse("/name", "bad-name", cut(&error.to_string(), MAX_SHOWN + 64));
    });
    let input = schema::read(&offer.input_schema_json, Direction::Input, budget, &mut report);
    let output = schema::read(&offer.output_schema_json, Direction::Output, budget, &mut report);
    label::check(offer, &mut report);
    let missing = missing(offer);
    if strictness == Strictness::Strict {
        for problem in &missing {
            report.refuse(&*problem.pointer, problem.rule, &*problem.description);
        }
    }
    let timeout = timeout(offer, &mut report);
    let conditions = conditions(&offer.approve_unless, budget, &mut report);
    let mut manifest = manifest(offer, timeout);
    manifest.extend(conditions.map(|it| ("approve_unless".to_owned(), it)));
    match (name, input, output) {
        (Ok(name), Some(input), Some(output)) if report.problems.is_empty() => {
            let warnings = missing.into_iter().chain(report.warnings).collect();
            Ok(CheckedOffer { name, manifest, input, output, warnings })
        }
        _ => Err(report.problems),
    }
}

fn refuse_large(offer: &wire::Offer) -> Result<(), Vec<Problem>> {
    let mut report = Report::default();
    let length = offer.encoded_len();
    if length > MAX_OFFER {
        report.refuse(
            "",
            "too-large",
            format!("an offer has at most {MAX_OFFER} bytes, and this one {length}"),
        );
    }
    let counts = [
        ("/tags", offer.tags.len()),
        ("/guidance", offer.guidance.len()),
        ("/examples", offer.examples.len()),
        ("/bind", offer.bind.len()),
    ];
    for (pointer, count) in counts.into_iter().filter(|(_, count)| *count > MAX_ENTRIES) {
        report.refuse(pointer, "too-many", format!("at most {MAX_ENTRIES} are taken, and these are {count}"));
    }
    let length = offer.description.len();
    if length > MAX_DESCRIPTION {
        let text = format!("a description has at most {MAX_DESCRIPTION} bytes, and this one {length}");
        report.refuse("/description", "too-large", text);
    }
    let length: usize = offer.examples.iter().map(Message::encoded_len).sum();
    if length > MAX_EXAMPLES {
        let text = format!("the examples have at most {MAX_EXAMPLES} bytes, and these {length}");
        report.refuse("/examples", "too-large", text);
    }
    if report.problems.is_empty() { Ok(()) } else { Err(report.problems) }
}

/// The verdict on an offer, if there is something to say.
pub fn verdict(tool: &str, problems: &[Problem], state: wire::VerdictState) -> Option<wire::Verdict> {
    let problem = |it: &Problem| wire::Problem {
        pointer: it.pointer.clone(),
        rule: it.rule.to_owned(),
        description: it.description.clone(),
    };
    let mut left = MAX_VERDICT;
    let mut fits = |it: &wire::Problem| {
        let length = it.encoded_len();
        let is_enough = length <= left;
        left = left.saturating_sub(length);
        is_enough
    };
    (!problems.is_empty()).then(|| wire::Verdict {
        tool: cut(tool, 4 * MAX_SHOWN),
        state: state.into(),
        problems: problems.iter().take(MAX_PROBLEMS).map(problem).take_while(|it| fits(it)).collect(),
    })
}

/// Collects what is wrong with one offer, as far as a verdict says it.
#[derive(Debug, Default)]
struct Report {
    problems: Vec<Problem>,
    /// Those that were not kept included.
    count: usize,
    /// Whether what cannot be checked is left out, with a warning.
    adapts: bool,
    warnings: Vec<Problem>,
}

impl Report {
    fn refuse(&mut self, pointer: impl Into<String>, rule: &'static str, description: impl Into<String>) {
        self.count += 1;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem::new(pointer, rule, description));
        }
    }

    fn warn(&mut self, pointer: impl Into<String>, rule: &'static str, description: impl Into<String>) {
        if self.warnings.len() < MAX_PROBLEMS {
            self.warnings.push(Problem::new(pointer, rule, description));
        }
    }

    /// Refuses what cannot be checked, or leaves it to the server.
    fn refuse_or_warn(&mut self, pointer: impl Into<String>, rule: &'static str, description: &str) {
        if self.adapts {
            self.warn(pointer, rule, format!("{description}; it is left to the server"));
        } else {
            self.refuse(pointer, rule, description);
        }
    }
}

/// What a model and an operator need, and an offer may leave out only on a machine of one's own.
fn missing(offer: &wire::Offer) -> Vec<Problem> {
    let mut missing = Vec::new();
    if offer.description.trim().is_empty() {
        let text = "a description is missing: say what the tool does, when to use it and when not";
        missing.push(Problem::new("/description", "missing-key", text));
    }
    if offer.category() == v1::ToolCategory::Unspecified {
        let text = "a category is missing: until then a call counts as a side effect";
        missing.push(Problem::new("/category", "missing-key", text));
    }
    if offer.consequence_level() == v1::ConsequenceLevel::Unspecified {
        let text = "a consequence level is missing: until then it counts as high";
        missing.push(Problem::new("/consequence_level", "missing-key", text));
    }
    missing
}

fn timeout(offer: &wire::Offer, report: &mut Report) -> Duration {
    const DEFAULT: Duration = Duration::from_secs(15);
    let Some(stated) = offer.timeout else { return DEFAULT };
    match length(stated.seconds, stated.nanos) {
        Some(timeout) if timeout >= Duration::from_millis(1) => timeout,
        _ => {
            report.refuse("/timeout", "bad-timeout", "a timeout is at least a millisecond");
            DEFAULT
        }
    }
}

fn conditions(text: &str, budget: &mut Budget, report: &mut Report) -> Option<Value> {
    if text.is_empty() {
        return None;
    }
    match contract::parse(text) {
        Ok(conditions @ Value::Object(_)) => {
            let is_too_large = schema::weight(&conditions) > MAX_CONDITIONS;
            if is_too_large || !budget.spend(schema::memory_weight(&conditions)) {
                let text =
                    format!("conditions have at most {MAX_CONDITIONS} parts, and a catalogue {MAX_PARTS}");
                report.refuse("/approve_unless", "schema-too-large", text);
                return None;
            }
            Some(conditions)
        }
        Ok(_) => {
            report.refuse(
                "/approve_unless",
                "wrong-type",
                "conditions are a JSON object, by names of arguments",
            );
            None
        }
        Err(error) => {
            report.refuse("/approve_unless", "bad-json", format!("not JSON: {error}"));
            None
        }
    }
}

#[cfg(test)]
mod tests;

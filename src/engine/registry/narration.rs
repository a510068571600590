//! What is said of a call for a person to read: while it runs, and of its result (spec 004 §8.3).

use serde_json::{Map, Value};

use super::{
    manifest::Manifest,
    problem::Report,
    template::{Template, brief},
};

/// The words of a tool, ready to have values put in.
#[derive(Clone, Debug, Default)]
pub struct Narration {
    progress: Option<Template>,
    proposal: Option<Template>,
    summary: Option<Template>,
}

impl Narration {
    /// The words of a manifest, or every place in them that has no value.
    pub(super) fn new(manifest: &Manifest, input: &Value, output: &Value, report: &mut Report) -> Self {
        Self {
            progress: template(&manifest.progress, input, "/progress", report),
            proposal: template(&manifest.proposal, input, "/proposal", report),
            summary: template(&manifest.summary, output, "/summary", report),
        }
    }

    /// Whether calls are told of while they run, and so are their results: a tool without words for the one is too
    /// quick for the other to be worth a message.
    pub fn is_told(&self) -> bool {
        self.progress.is_some()
    }

    /// Whether something is said of results.
    pub fn has_summary(&self) -> bool {
        self.summary.is_some()
    }

    /// What is said while a call runs.
    pub fn progress(&self, arguments: &Value) -> Option<String> {
        Some(self.progress.as_ref()?.render(arguments))
    }

    /// The call as an order, such as `Remove TCS from the watchlist`.
    pub fn proposal(&self, arguments: &Value) -> Option<String> {
        Some(self.proposal.as_ref()?.render(arguments))
    }

    /// What is said of a result's data: `RSI: 38, SMA200: +5%`.
    pub fn said(&self, data: &Value) -> Option<String> {
        Some(self.summary.as_ref()?.render(data))
    }

    /// What is said of a call and its result: `get_technicals("RELIANCE") → RSI: 38, SMA200: +5%`. Arguments stand in
    /// the order of the input schema.
    pub fn summary(&self, tool: &str, input: &Value, arguments: &Value, data: &Value) -> Option<String> {
        let said = self.said(data)?;
        let names = input.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
        let given: Vec<_> = names.filter_map(|name| arguments.get(name)).map(as_json).collect();
        Some(format!("{tool}({}) → {said}", given.join(", ")))
    }
}

fn template(text: &str, schema: &Value, pointer: &str, report: &mut Report) -> Option<Template> {
    if text.is_empty() {
        return None;
    }
    match text.parse::<Template>() {
        Ok(template) => {
            template.check(schema, pointer, report);
            Some(template)
        }
        Err(error) => {
            report.add(pointer, "bad-template", error.to_string());
            None
        }
    }
}

/// An argument, as JSON shows it.
fn as_json(value: &Value) -> String {
    match value {
        Value::String(text) => Value::String(brief(text)).to_string(),
        other => brief(&other.to_string()),
    }
}

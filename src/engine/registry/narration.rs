//! Messages about a call for a person: while it runs, and about its result.

use serde_json::{Map, Value};

use super::{
    manifest::Manifest,
    problem::Report,
    template::{Template, brief},
};

/// The parsed templates of a tool.
#[derive(Clone, Debug, Default)]
pub struct Narration {
    progress: Option<Template>,
    proposal: Option<Template>,
    summary: Option<Template>,
}

impl Narration {
    /// Parses the templates of a manifest, and reports every placeholder without a value.
    pub(super) fn new(manifest: &Manifest, input: &Value, output: &Value, report: &mut Report) -> Self {
        Self {
            progress: template(&manifest.progress, input, "/progress", report),
            proposal: template(&manifest.proposal, input, "/proposal", report),
            summary: template(&manifest.summary, output, "/summary", report),
        }
    }

    /// Whether calls are narrated, during the call and with a summary. A tool without `progress` is too fast for
    /// either.
    pub fn is_enabled(&self) -> bool {
        self.progress.is_some()
    }

    pub fn has_summary(&self) -> bool {
        self.summary.is_some()
    }

    /// The message while a call runs.
    pub fn progress(&self, arguments: &Value) -> Option<String> {
        Some(self.progress.as_ref()?.render(arguments))
    }

    /// The call as an imperative, such as `Remove TCS from the watchlist`.
    pub fn proposal(&self, arguments: &Value) -> Option<String> {
        Some(self.proposal.as_ref()?.render(arguments))
    }

    /// The summary of a result's data: `RSI: 38, SMA200: +5%`.
    pub fn narrate_result(&self, data: &Value) -> Option<String> {
        Some(self.summary.as_ref()?.render(data))
    }

    /// The summary of a call and its result: `get_technicals("RELIANCE") → RSI: 38, SMA200: +5%`. Arguments are in the
    /// order of the input schema.
    pub fn summary(&self, tool: &str, input: &Value, arguments: &Value, data: &Value) -> Option<String> {
        let said = self.narrate_result(data)?;
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

/// An argument as JSON, cut.
fn as_json(value: &Value) -> String {
    match value {
        Value::String(text) => Value::String(brief(text)).to_string(),
        other => brief(&other.to_string()),
    }
}

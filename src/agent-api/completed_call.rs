//! A completed call of a workflow, and its summary.

use std::sync::Arc;

use serde_json::{Map, Value};

use toolwire_contract::{Payload, Provenance, ToolError, ToolResult};
use toolwire_engine::registry::RegisteredTool;

#[derive(Clone, Debug)]
pub struct CompletedCall {
    /// The call. Empty if it was not made.
    pub call_id: String,
    /// Its arguments, defaults included.
    pub arguments: Map<String, Value>,
    pub result: Arc<ToolResult>,
    pub tool: Arc<RegisteredTool>,
    /// Whether the source refuses us, so that nothing more is called.
    pub stops: bool,
}

impl CompletedCall {
    pub fn data(&self) -> Option<&Value> {
        self.result.outcome.as_ref().ok().map(Payload::json)
    }

    /// Why it failed, if it did.
    pub fn error(&self) -> Option<&ToolError> {
        self.result.outcome.as_ref().err()
    }

    /// Where its data came from.
    pub fn provenance(&self) -> &Provenance {
        &self.result.provenance
    }

    /// The source, as definitions name it; the tool if it has none.
    pub fn source(&self) -> &str {
        let definition = &self.tool.definition;
        definition.source.as_ref().map_or(definition.name.as_str(), |source| source.name.as_str())
    }

    /// The narration of the result: `25 posts, mood +0.3`. `None` for a failure, and for a tool without a narration.
    pub fn summary(&self) -> Option<String> {
        self.tool.narration.narrate_result(self.data()?)
    }

    /// `get_quotes("AAPL") → 1 quote`: the call and what came out.
    pub fn words(&self) -> String {
        let RegisteredTool { definition, narration, .. } = &*self.tool;
        let (name, arguments) = (definition.name.as_str(), Value::Object(self.arguments.clone()));
        let said = match &self.result.outcome {
            Ok(data) => narration.summary(name, &definition.input_schema, &arguments, data.json()),
            Err(_) => None,
        };
        said.unwrap_or_else(|| {
            let came = self.error().map_or("done", |error| error.code.into_str());
            let values: Vec<_> = self.arguments.values().map(Value::to_string).collect();
            format!("{name}({}) → {came}", values.join(", "))
        })
    }
}

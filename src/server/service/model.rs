//! The text of a result for a model, made on another thread if it is large.

use serde_json::Value;

use super::Tools;
use toolwire_base::offload;
use toolwire_contract::{Payload, ToolResult};
use toolwire_engine::model::{self, TextOptions};

/// Estimated size of the envelope around the data, in bytes.
const AROUND: usize = 1_024;

impl Tools {
    /// What a model reads of a result, at most this many tokens.
    pub async fn for_model(&self, result: &ToolResult, max_tokens: u64) -> String {
        let size = AROUND + result.outcome.as_ref().map_or(0, |payload| payload.json_text().len());
        let snapshot = self.registry.snapshot();
        let schema = snapshot.get(&result.tool).map(|tool| &tool.definition.input_schema);
        let parameters = schema.and_then(|schema| schema.get("properties")?.as_object());
        let narrows = parameters.into_iter().flatten().filter(|(_, schema)| narrows(schema));
        let narrow_by = narrows.map(|(name, _)| name.clone()).collect();
        let (result, wanted) = (result.clone(), TextOptions { max_tokens, narrow_by });
        // A token has a byte at least: then there is nothing to count, for which a vocabulary would be read.
        let counted = if size as u64 <= max_tokens { 0 } else { usize::MAX };
        offload::if_large(counted, move || model::text(&result, &wanted)).await
    }

    /// The data of a result, cut to this many tokens in its own shape. `None` if that is not possible.
    pub async fn part_of(&self, data: &Payload, max_tokens: u64) -> Option<Payload> {
        let data = data.clone();
        let part = offload::if_large(usize::MAX, move || model::part(data.json(), max_tokens)).await;
        part.map(Payload::from_json)
    }
}

/// Whether another value of a parameter can ask for less of the same: a number, a choice, or a date. A name asks for
/// something else.
fn narrows(schema: &Value) -> bool {
    let is_number = |kind: &Value| kind == "integer" || kind == "number";
    let kind = &schema["type"];
    let is_number = is_number(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is_number));
    is_number || schema.get("enum").is_some() || schema["format"] == "date"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_asks_for_less_of_the_same_narrows() {
        for narrow in
            [json!({"type": "integer"}), json!({"enum": ["1Y"]}), json!({"type": "string", "format": "date"})]
        {
            assert!(narrows(&narrow), "{narrow}");
        }
        assert!(!narrows(&json!({"type": "string"})));
    }
}

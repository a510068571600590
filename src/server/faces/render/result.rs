//! Results in the form that a request asks for.

use crate::service::{Tools, request};
use toolwire_base::offload;
use toolwire_contract::{
    Refusal, Terminal, ToolResult,
    convert::{self, ResultFormat},
    proto::v1::{self, call_tool_response::Outcome},
};

/// The form in which a request wants its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultForm {
    /// That of data, and of its parts on the way.
    pub data: ResultFormat,
    /// Maximum number of tokens, if the result is to be text for a model.
    pub max_tokens: Option<u64>,
    /// Maximum number of tokens of data that is not kept.
    pub keep_over_tokens: Option<u64>,
}

impl ResultForm {
    /// The form of a request. The budget counts only where a model is to read the result.
    pub fn read(format: v1::ResultFormat, max_tokens: u32) -> Result<Self, Refusal> {
        let budget =
            (format == v1::ResultFormat::Model).then(|| request::max_tokens("max_tokens", max_tokens));
        Ok(Self { data: format.into(), max_tokens: budget.transpose()?, keep_over_tokens: None })
    }

    /// The same form, in which data that exceeds a request's `keep_over_tokens` is shown in part.
    pub fn with_keep_over(self, tokens: u32) -> Result<Self, Refusal> {
        let keep_over_tokens = request::keep_over_tokens("keep_over_tokens", tokens)?;
        Ok(Self { keep_over_tokens, ..self })
    }

    /// Whether rendering a result may take counting its tokens.
    pub(super) fn counts_tokens(self) -> bool {
        self.max_tokens.or(self.keep_over_tokens).is_some()
    }
}

/// Whether making a structure of the data takes long.
pub(super) fn is_slow(result: &ToolResult, form: ResultForm) -> bool {
    bytes_to_convert(result, form.data) > offload::SMALL
}

fn bytes_to_convert(result: &ToolResult, format: ResultFormat) -> usize {
    match (&result.outcome, format) {
        (Ok(data), ResultFormat::Struct) => data.present_len(),
        _ => 0,
    }
}

/// Whether only a part of the data may be shown.
fn is_partial(result: &ToolResult, form: ResultForm) -> bool {
    form.max_tokens.is_some() || result.kept.is_some()
}

/// A result with its data in the given form.
pub(super) async fn convert(result: ToolResult, form: ResultForm) -> v1::ToolResult {
    let bytes = bytes_to_convert(&result, form.data);
    offload::if_large(bytes, move || convert::tool_result(result, form.data)).await
}

pub async fn render(tools: &Tools, mut result: ToolResult, form: ResultForm) -> v1::ToolResult {
    // Data that is kept is shown in part, whatever the form.
    let kept = result.kept.as_ref().map(|kept| kept.max_tokens);
    let budget = match (form.max_tokens, kept, &result.outcome) {
        (None, Some(most), Ok(data)) => match tools.part_of(data, most).await {
            Some(part) => {
                result.outcome = Ok(part);
                None
            }
            None => kept,
        },
        (budget, ..) => budget,
    };
    match budget {
        None => convert(result, form).await,
        Some(most) => {
            let text = Box::pin(tools.for_model(&result, most)).await;
            convert::result_in_text(result, text)
        }
    }
}

/// The last event of a call, without its stream.
pub async fn outcome(tools: &Tools, terminal: Terminal, form: ResultForm) -> Outcome {
    match terminal {
        // Boxed, since most results need none of it, and the futures above would all have room for it.
        Terminal::Result(result) if is_partial(&result, form) || is_slow(&result, form) => {
            Outcome::Result(Box::pin(render(tools, result, form)).await)
        }
        terminal => convert::outcome(terminal, form.data),
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use serde_json::json;

    use super::*;
    use toolwire_contract::{Payload, Provenance};

    #[tokio::test]
    async fn a_large_structure_is_made_elsewhere() {
        for (length, data, is_elsewhere) in [
            (offload::SMALL / 2, ResultFormat::Struct, false),
            (offload::SMALL * 2, ResultFormat::Struct, true),
            // Its text was made when it was measured.
            (offload::SMALL * 2, ResultFormat::Json, false),
        ] {
            let payload = Payload::from_json(json!({"text": "x".repeat(length)}));
            payload.largest_len();
            let result = ToolResult {
                tool: "t".parse().expect("a name"),
                fetched_at: SystemTime::UNIX_EPOCH,
                outcome: Ok(payload),
                provenance: Provenance::default(),
                kept: None,
            };
            let form = ResultForm { data, max_tokens: None, keep_over_tokens: None };
            assert_eq!(is_slow(&result, form), is_elsewhere);
            let before = offload::testing::requested_count();
            convert(result, form).await;
            assert_eq!(offload::testing::requested_count() - before, usize::from(is_elsewhere));
        }
    }
}

//! Results in the form that a request asks for.

use crate::service::{Tools, request};
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
        None => convert::tool_result(result, form.data),
        Some(most) => {
            let text = Box::pin(tools.for_model(&result, most)).await;
            convert::result_in_text(result, text)
        }
    }
}

/// The last event of a call, without its stream.
pub async fn outcome(tools: &Tools, terminal: Terminal, form: ResultForm) -> Outcome {
    match terminal {
        Terminal::Result(result) if form.counts_tokens() => {
            Outcome::Result(render(tools, result, form).await)
        }
        terminal => convert::outcome(terminal, form.data),
    }
}

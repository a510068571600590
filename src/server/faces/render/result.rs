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
}

impl ResultForm {
    /// The form of a request. The budget counts only where a model is to read the result.
    pub fn read(format: v1::ResultFormat, max_tokens: u32) -> Result<Self, Refusal> {
        let budget =
            (format == v1::ResultFormat::Model).then(|| request::max_tokens("max_tokens", max_tokens));
        Ok(Self { data: format.into(), max_tokens: budget.transpose()? })
    }
}

pub async fn render(tools: &Tools, result: ToolResult, form: ResultForm) -> v1::ToolResult {
    match form.max_tokens {
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
        Terminal::Result(result) if form.max_tokens.is_some() => {
            Outcome::Result(render(tools, result, form).await)
        }
        terminal => convert::outcome(terminal, form.data),
    }
}

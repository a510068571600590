//! A whole answer, for callers that need all of it before they can use any.

use futures_util::StreamExt;

use super::{ModelError, Part, ResponseStream, Stop, ToolCall, Usage, bound::Length};

#[derive(Clone, Debug, PartialEq)]
pub struct Whole {
    /// What the model said.
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub stop: Stop,
    pub usage: Usage,
}

impl Whole {
    /// Waits for the end of an answer. One that breaks off, or is too long, is none.
    pub async fn of(mut answer: ResponseStream) -> Result<Self, ModelError> {
        let (mut text, mut calls, mut length) = (String::new(), Vec::new(), Length::default());
        while let Some(part) = answer.next().await {
            match part? {
                Part::Text(more) => {
                    length.add(more.len())?;
                    text.push_str(&more);
                }
                Part::Calls(more) => calls.extend(more),
                Part::End { stop, usage } => return Ok(Self { text, calls, stop, usage }),
            }
        }
        Err(ModelError::Malformed)
    }
}

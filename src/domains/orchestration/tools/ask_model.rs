//! `ask_gpt` and `ask_claude`: what another model says. It sees the question alone; what it answers is text from
//! outside.

use std::time::SystemTime;

use chrono::{DateTime, Utc};

use crate::{
    proto::v1::{AskModelInput, AskModelOutput},
    sources::advisers::{Adviser, Advisers},
};
use toolwire_base::clock;
use toolwire_contract::{ErrorCode, Provenance, ToolError};
use toolwire_sources::models::{Message, ModelError, Request, Stop, Whole};
use toolwire_tool::{
    Reply, Tool,
    argument::required,
    context::{Required, ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct AskGpt;

#[derive(Clone, Copy, Debug)]
pub struct AskClaude;

impl Tool for AskGpt {
    const NAME: &'static str = "ask_gpt";
    type Input = AskModelInput;
    type Output = AskModelOutput;

    fn services() -> Required {
        Required::none().of::<Advisers>()
    }

    async fn execute(
        &self,
        input: AskModelInput,
        context: &ToolContext,
    ) -> Result<Reply<AskModelOutput>, Unfinished> {
        ask(Adviser::Gpt, input, context).await
    }
}

impl Tool for AskClaude {
    const NAME: &'static str = "ask_claude";
    type Input = AskModelInput;
    type Output = AskModelOutput;

    fn services() -> Required {
        Required::none().of::<Advisers>()
    }

    async fn execute(
        &self,
        input: AskModelInput,
        context: &ToolContext,
    ) -> Result<Reply<AskModelOutput>, Unfinished> {
        ask(Adviser::Claude, input, context).await
    }
}

async fn ask(
    adviser: Adviser,
    input: AskModelInput,
    context: &ToolContext,
) -> Result<Reply<AskModelOutput>, Unfinished> {
    let prompt = required("prompt", input.prompt.as_deref())?;
    let advisers = context.services.get::<Advisers>();
    let model = advisers.get(adviser).ok_or_else(nobody)?;
    let request = Request { messages: vec![Message::User(prompt.to_owned())], ..Request::default() };
    let whole = Whole::of(model.chat(request, context)).await.map_err(failure)?;
    if whole.text.trim().is_empty() {
        return Err(ToolError::new(ErrorCode::ParseError, "the model answered without a word").into());
    }
    let mut provenance = Provenance::of(format!("tool:{}:v1", adviser.tool()), today(clock::wall()));
    if whole.stop == Stop::Length {
        provenance.warnings.push("The answer is cut: it reached the longest that is allowed.".to_owned());
    }
    Ok(Reply { data: AskModelOutput { text: whole.text }, provenance })
}

fn today(now: SystemTime) -> String {
    DateTime::<Utc>::from(now).format("%Y-%m-%d").to_string()
}

/// Cannot happen: a tool without a model is disabled.
fn nobody() -> ToolError {
    ToolError::new(ErrorCode::Unavailable, "no model is configured for it")
}

fn failure(error: ModelError) -> ToolError {
    let code = match error {
        ModelError::AuthFailed => ErrorCode::AuthFailed,
        ModelError::RateLimited { .. } => ErrorCode::RateLimited,
        ModelError::Refused => ErrorCode::Unknown,
        ModelError::TooLong => ErrorCode::ResultTooLarge,
        ModelError::Unavailable => ErrorCode::Unavailable,
        ModelError::Malformed => ErrorCode::ParseError,
        ModelError::TimedOut => ErrorCode::Timeout,
    };
    let failure = ToolError::new(code, error.to_string());
    match error {
        ModelError::RateLimited { after: Some(after) } => failure.with_retry_after(after),
        _ => failure,
    }
}

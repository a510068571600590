//! Texts by a model: it reads what the tools found and answers with JSON. Rules decide what it may not decide, and its
//! caller checks what it says.

use std::sync::Arc;

use futures_util::{StreamExt, future::BoxFuture};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Findings, Text, Wording, Writer};
use toolwire_agent_api::{Prompt, job::Run};
use toolwire_base::words::one_line;
use toolwire_contract::frame;
use toolwire_sources::models::{Message, Model, Part, Request, Usage};
use toolwire_tool::context::RequestId;

/// Maximum size of the answer, in bytes.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Maximum length of a text, in characters, and maximum number of them.
const MAX_TEXT_LENGTH: usize = 1_000;
const MAX_TEXTS: usize = 6;

/// Maximum number of requests: one more if the first answer cannot be read.
const MAX_ATTEMPTS: usize = 2;

#[derive(Debug)]
pub(in super::super) struct ModelWriter {
    pub(in super::super) model: Arc<dyn Model>,
}

#[derive(Debug, Deserialize)]
struct ModelAnswer {
    #[serde(default)]
    market_note: String,
    suggestions: Vec<Suggested>,
}

#[derive(Debug, Deserialize)]
struct Suggested {
    symbol: String,
    action: String,
    #[serde(default)]
    conviction: String,
    #[serde(default)]
    thesis: String,
    #[serde(default)]
    reasons: Vec<String>,
    #[serde(default)]
    risks: Vec<String>,
}

impl Writer for ModelWriter {
    fn write<'a>(
        &'a self,
        run: &'a dyn Run,
        findings: &'a [Findings],
        moods: &'a [String],
    ) -> BoxFuture<'a, Result<Wording, String>> {
        Box::pin(self.ask(run, findings, moods))
    }
}

impl ModelWriter {
    async fn ask(&self, run: &dyn Run, findings: &[Findings], moods: &[String]) -> Result<Wording, String> {
        let schema = schema();
        let mut request = Request {
            system: run.prompt(Prompt::Discovery, &schema.to_string()),
            messages: vec![Message::User(prompt_data(findings, moods))],
            json_schema: Some(Arc::new(schema)),
            ..Request::default()
        };
        let mut usage = (0, 0);
        for _ in 0..MAX_ATTEMPTS {
            let answer = self.answer(run, request.clone(), &mut usage).await?;
            if let Some(read) = read(&answer) {
                return Ok(to_wording(read, self.model.id(), usage));
            }
            request.messages.push(Message::assistant(answer));
            let problem = "That is not the JSON that was asked for. Answer with it and nothing else.";
            request.messages.push(Message::User(problem.to_owned()));
        }
        Err("the model's answer could not be read; the words are made without it".to_owned())
    }

    async fn answer(
        &self,
        run: &dyn Run,
        request: Request,
        usage: &mut (u64, u64),
    ) -> Result<String, String> {
        let (mut parts, mut text) = (self.model.chat(request, run.context()), String::new());
        while let Some(part) = parts.next().await {
            match part.map_err(|error| error.to_string())? {
                Part::Text(more) => text.push_str(&more),
                Part::End { usage: Usage { input_tokens, output_tokens }, .. } => {
                    usage.0 += input_tokens;
                    usage.1 += output_tokens;
                }
                // It is offered no tools.
                Part::Calls(_) => {}
            }
            if text.len() > MAX_ANSWER_BYTES {
                return Err("the model's answer was too long; the words are made without it".to_owned());
            }
        }
        Ok(text)
    }
}

/// The data in a model's prompt, between lines that the authors of the data cannot know.
fn prompt_data(findings: &[Findings], moods: &[String]) -> String {
    let of = |it: &Findings| {
        let suggestion = &it.suggestion;
        json!({
            "symbol": suggestion.symbol, "name": suggestion.name, "found_in": suggestion.found_in,
            "thesis": it.thesis, "price": suggestion.price, "rsi_14": suggestion.rsi_14,
            "price_vs_sma200_pct": suggestion.price_vs_sma200_pct, "pe": suggestion.pe, "roe_pct": suggestion.roe_pct,
            "wait_zone": suggestion.wait_zone.as_ref().map(|it| json!({"is_wait_zone": it.is_wait_zone, "reasons": it.reasons})),
            "forbidden": suggestion.forbidden.as_ref().map(|it| json!({
                "is_forbidden": it.is_forbidden, "violations": it.violations, "unknown": it.unknown,
            })),
            "most_that_may_be_done": it.most.into_str(),
        })
    };
    let data = json!({"candidates": findings.iter().map(of).collect::<Vec<_>>(), "browsed": moods});
    let nonce = RequestId::generate().to_string();
    frame::wrap(&nonce, "", &data.to_string())
}

fn schema() -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": text});
    json!({
        "type": "object",
        "properties": {
            "market_note": text,
            "suggestions": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "symbol": text,
                    "action": {"type": "string", "enum": ["buy", "watch", "avoid"]},
                    "conviction": {"type": "string", "enum": ["high", "medium", "low"]},
                    "thesis": text, "reasons": texts, "risks": texts,
                },
                "required": ["symbol", "action", "conviction", "thesis", "reasons", "risks"],
                "additionalProperties": false,
            }},
        },
        "required": ["market_note", "suggestions"],
        "additionalProperties": false,
    })
}

/// The JSON object of an answer, in a fence or not.
fn read(answer: &str) -> Option<ModelAnswer> {
    let object = answer.get(answer.find('{')?..=answer.rfind('}')?)?;
    serde_json::from_str(object).ok()
}

fn to_wording(answer: ModelAnswer, model: &str, usage: (u64, u64)) -> Wording {
    let texts = answer.suggestions.into_iter().map(|it| {
        let Suggested { symbol, action, conviction, thesis, reasons, risks } = it;
        let text = Text {
            action: action.parse().ok(),
            conviction: conviction.parse().ok(),
            thesis: truncate(&thesis),
            reasons: several(&reasons),
            risks: several(&risks),
        };
        (symbol, text)
    });
    Wording {
        market_note: truncate(&answer.market_note),
        texts: texts.collect(),
        model: model.to_owned(),
        usage,
    }
}

fn several(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| truncate(text)).filter(|text| !text.is_empty()).take(MAX_TEXTS).collect()
}

fn truncate(text: &str) -> String {
    one_line(text).chars().take(MAX_TEXT_LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::score::Action;

    #[test]
    fn an_answer_is_read_in_a_fence_or_not_and_nothing_else_is() {
        let object = r#"{"market_note": "calm", "suggestions": [{"symbol": "TCS", "action": "buy"}]}"#;
        for answer in [object.to_owned(), format!("Here it is:\n```json\n{object}\n```")] {
            let written = to_wording(read(&answer).unwrap(), "scripted/script", (1, 2));
            assert_eq!(written.market_note, "calm");
            assert_eq!(written.texts["TCS"].action, Some(Action::Buy));
        }
        for answer in ["", "no", "}{", "[]", r#"{"suggestions": 7}"#, r#"{"suggestions": [{}]}"#] {
            assert!(read(answer).is_none(), "{answer}");
        }
    }
}

//! A whole answer of an `OpenAI`-compatible server, without a stream: its body is read here, so that its length is
//! bounded while it comes.

use reqwest::{Client, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{failure, request::Bounds};
use crate::models::{
    Message, ModelError, Part, Request, Stop, ToolCall, ToolOutput, Usage, bound::LONGEST, call_ids::with_ids,
};
use toolwire_base::words::without_bom;
use toolwire_contract::json::{self, raw};

/// The path behind a server's address.
const PATH: &str = "chat/completions";

/// The part of an answer that is read.
#[derive(Debug, Deserialize)]
struct Completion {
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<TokenUsage>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    message: ResponseMessage,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ResponseMessage {
    #[serde(default)]
    content: Value,
    #[serde(default)]
    tool_calls: Option<Vec<FunctionCall>>,
}

#[derive(Debug, Deserialize)]
struct FunctionCall {
    #[serde(default)]
    id: Option<String>,
    function: Function,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
    #[serde(default)]
    arguments: Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct TokenUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
}

/// Asks once: the parts of the answer.
pub(super) async fn ask(
    client: &Client,
    (address, key): (&str, &str),
    body: &Value,
) -> Result<Vec<Part>, ModelError> {
    let mut request = client.post(format!("{address}{PATH}")).json(body);
    if !key.is_empty() {
        request = request.bearer_auth(key);
    }
    let response = request.send().await.map_err(|error| failure::of_network(&error))?;
    if !response.status().is_success() {
        // The body of a failure is not read.
        return Err(failure::of_status(response.status(), Some(response.headers())));
    }
    read(body_of(response).await?)
}

/// The body, as long as an answer may be.
async fn body_of(mut response: Response) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| failure::of_network(&error))? {
        if body.len() + piece.len() > LONGEST {
            return Err(ModelError::TooLong);
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

pub(super) fn body(model: &str, request: &Request, bounds: Bounds) -> Value {
    let system = (!request.system.is_empty()).then(|| json!({"role": "system", "content": request.system}));
    let messages: Vec<_> = system.into_iter().chain(request.messages.iter().flat_map(messages)).collect();
    let most = request.max_tokens.map_or(bounds.max_tokens, |most| most.min(bounds.max_tokens));
    let mut body = json!({"model": model, "messages": messages, "max_tokens": most, "stream": false});
    if let Some(tools) = &request.tools {
        body["tools"] = Value::clone(tools);
    }
    if let Some(schema) = &request.json_schema {
        let schema = json!({"name": "answer", "strict": true, "schema": **schema});
        body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
    }
    body
}

fn messages(message: &Message) -> Vec<Value> {
    match message {
        Message::User(text) => vec![json!({"role": "user", "content": text})],
        Message::System(text) => vec![json!({"role": "system", "content": text})],
        Message::Assistant { text, calls } => {
            let mut message = json!({"role": "assistant", "content": text});
            if !calls.is_empty() {
                message["tool_calls"] = calls.iter().map(encode_call).collect();
            }
            vec![message]
        }
        Message::Results(outputs) => outputs.iter().map(output).collect(),
    }
}

fn encode_call(call: &ToolCall) -> Value {
    let function = json!({"name": call.tool, "arguments": call.arguments.to_string()});
    json!({"type": "function", "id": call.id, "function": function})
}

fn output(output: &ToolOutput) -> Value {
    json!({"role": "tool", "tool_call_id": output.call_id, "content": output.text})
}

/// The parts of an answer: text, calls and the end.
fn read(body: Vec<u8>) -> Result<Vec<Part>, ModelError> {
    let text = String::from_utf8(body).map_err(|_| ModelError::Malformed)?;
    // A model that stops within an emoji has still answered.
    let text = raw::without_lone_surrogates(text);
    let Completion { choices, usage } =
        serde_json::from_str(without_bom(&text)).map_err(|_| ModelError::Malformed)?;
    let Choice { message, finish_reason } = choices.into_iter().next().ok_or(ModelError::Malformed)?;
    let calls: Vec<_> = message.tool_calls.unwrap_or_default().into_iter().map(decode_call).collect();
    let calls = with_ids(calls);
    let stop = match finish_reason.as_deref() {
        Some("content_filter") => return Err(ModelError::Refused),
        Some("length") => Stop::Length,
        _ if !calls.is_empty() => Stop::Calls,
        _ => Stop::Done,
    };
    let text = text_of(&message.content);
    let text = (!text.is_empty()).then_some(Part::Text(text));
    let calls = (!calls.is_empty()).then_some(Part::Calls(calls));
    let TokenUsage { prompt_tokens, completion_tokens } = usage.unwrap_or_default();
    let usage = Usage { input_tokens: prompt_tokens, output_tokens: completion_tokens };
    Ok(text.into_iter().chain(calls).chain([Part::End { stop, usage }]).collect())
}

/// The text of a message: a text, or pieces of which some are text. Thoughts are the model's own.
fn text_of(content: &Value) -> String {
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(pieces) => pieces
            .iter()
            .filter(|piece| piece["type"] == "text")
            .filter_map(|piece| piece["text"].as_str())
            .collect(),
        _ => String::new(),
    };
    text.trim().to_owned()
}

/// Arguments come as a text; one that is not JSON stays a text, so that the model can be shown its mistake.
fn decode_call(called: FunctionCall) -> ToolCall {
    let FunctionCall { id, function: Function { name, arguments } } = called;
    let arguments = match arguments {
        Value::String(text) => json::parse(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    ToolCall { id: id.unwrap_or_default(), tool: name, arguments, signatures: Vec::new() }
}

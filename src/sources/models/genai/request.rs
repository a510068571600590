//! Requests in the types of genai.

use std::time::Duration;

use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ContentPart, JsonSpec, MessageContent, Tool,
    ToolCall, ToolResponse,
};
use serde_json::{Value, json};

use crate::models::{self, Message, Request, ToolOutput};
use toolwire_config::Provider;

/// The bounds that are set on a model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// How long it may say nothing.
    pub(super) silence: Duration,
    /// The longest answer, in tokens.
    pub(super) max_tokens: u32,
}

pub(super) fn chat(provider: Provider, request: &Request) -> ChatRequest {
    let mut chat = ChatRequest::from_messages(request.messages.iter().map(message).collect());
    if !request.system.is_empty() {
        chat = chat.with_system(request.system.as_str());
    }
    match &request.tools {
        // Its interface takes nothing that genai does not know.
        Some(tools) if provider == Provider::Ollama => chat.with_tools(each(tools)),
        _ => chat,
    }
}

/// What is wanted of the answer.
pub(super) fn options(request: &Request, bounds: Bounds) -> ChatOptions {
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_tool_calls(true)
        .with_stream_header_timeout(bounds.silence)
        .with_stream_read_timeout(bounds.silence)
        .with_max_tokens(request.max_tokens.map_or(bounds.max_tokens, |most| most.min(bounds.max_tokens)));
    if let Some(tools) = &request.tools {
        // As they are declared, to the letter: genai would leave out what it does not know.
        options = options.with_extra_body(json!({"tools": **tools}));
    }
    if let Some(schema) = &request.json_schema {
        let spec = JsonSpec::new("answer", (**schema).clone());
        options = options.with_response_format(ChatResponseFormat::JsonSpec(spec));
    }
    options
}

fn message(message: &Message) -> ChatMessage {
    match message {
        Message::User(text) => ChatMessage::user(text.as_str()),
        Message::System(text) => ChatMessage::system(text.as_str()),
        Message::Assistant { text, calls } => {
            let text = (!text.is_empty()).then(|| ContentPart::from_text(text.as_str()));
            let calls = calls.iter().map(|call| ContentPart::ToolCall(tool_call(call)));
            ChatMessage::assistant(text.into_iter().chain(calls).collect::<MessageContent>())
        }
        Message::Results(outputs) => ChatMessage::from(outputs.iter().map(output).collect::<Vec<_>>()),
    }
}

fn tool_call(call: &models::ToolCall) -> ToolCall {
    ToolCall {
        call_id: call.id.clone(),
        fn_name: call.tool.clone(),
        fn_arguments: call.arguments.clone(),
        thought_signatures: (!call.signatures.is_empty()).then(|| call.signatures.clone()),
    }
}

fn output(output: &ToolOutput) -> ToolResponse {
    ToolResponse::new(output.call_id.as_str(), output.text.as_str()).with_fn_name(output.tool.as_str())
}

/// The functions that are declared.
fn each(tools: &Value) -> Vec<Tool> {
    let functions = tools.as_array().into_iter().flatten().map(|tool| &tool["function"]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tool = |function: &Value| {
        let tool = Tool::new(text(&function["name"])).with_description(text(&function["description"]));
        tool.with_schema(function["parameters"].clone())
    };
    functions.map(tool).collect()
}

//! Tools that ask their client for more, in rounds, before they have a result.
//!
//! The state of a call is what the client sends back, sealed.

use std::sync::LazyLock;

use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
        InputRequest, InputRequests, InputRequiredResult, InputResponses, RequestStateCodec,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What the names of these tools begin with.
const PREFIX: &str = "test_input_required_result_";

static SEALED: LazyLock<RequestStateCodec> = LazyLock::new(|| {
    RequestStateCodec::try_new(b"the conformance suite's key, which is no secret".as_slice())
        .expect("32 bytes and more")
});

/// A value of the protocol from its JSON.
pub(crate) fn made<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("it is what the protocol says")
}

/// Questions by their key.
type Round = Vec<(&'static str, Value)>;

/// The names of these tools, after the prefix, and whether their rounds need state.
const TOOLS: [(&str, bool); 8] = [
    ("capabilities", false),
    ("elicitation", false),
    ("list_roots", false),
    ("multi_round", true),
    ("multiple_inputs", true),
    ("request_state", true),
    ("sampling", false),
    ("tampered_state", true),
];

pub(crate) fn names() -> impl Iterator<Item = String> {
    TOOLS.iter().map(|(name, _)| format!("{PREFIX}{name}"))
}

pub(crate) fn form(message: &str, field: &str, kind: &str) -> Value {
    let schema = json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

fn sampling(prompt: &str) -> Value {
    let messages = json!([{"role": "user", "content": {"type": "text", "text": prompt}}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}})
}

fn rounds(tool: &str) -> Vec<Round> {
    let name = ("user_name", form("What is your name?", "name", "string"));
    let greeting = ("greeting", sampling("Generate a greeting"));
    let roots = ("client_roots", json!({"method": "roots/list", "params": {}}));
    match tool {
        "elicitation" => vec![vec![name]],
        "sampling" => vec![vec![("capital_question", sampling("What is the capital of France?"))]],
        "list_roots" => vec![vec![roots]],
        "capabilities" | "multiple_inputs" => vec![vec![name, greeting, roots]],
        "multi_round" => vec![
            vec![("step1", form("Step 1: What is your name?", "name", "string"))],
            vec![("step2", form("Step 2: What is your favorite color?", "color", "string"))],
        ],
        _ => vec![vec![("confirm", form("Please confirm", "ok", "boolean"))]],
    }
}

/// Answers a call of one of these tools. `None` if it is not one.
pub(crate) fn call(
    request: &CallToolRequestParams,
    capabilities: &ClientCapabilities,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let name = request.name.strip_prefix(PREFIX)?;
    let &(tool, has_state) = TOOLS.iter().find(|(tool, _)| *tool == name)?;
    Some(answer(tool, has_state, request, capabilities))
}

fn answer(
    tool: &str,
    has_state: bool,
    request: &CallToolRequestParams,
    capabilities: &ClientCapabilities,
) -> Result<CallToolResponse, ErrorData> {
    let mut rounds = rounds(tool);
    if tool == "capabilities" {
        rounds[0].retain(|(_, question)| can_answer(capabilities, question));
    }
    let responses = request.input_responses.as_ref();
    let asked = match request.request_state.as_deref() {
        Some(sealed) => opened(sealed)?,
        None => 0,
    };
    let is_answered = rounds[asked].iter().all(|(key, _)| has_answer(responses, key));
    let next = if is_answered && (!has_state || request.request_state.is_some()) { asked + 1 } else { asked };
    let Some(questions) = rounds.get(next) else {
        return Ok(text(&format!("{tool}: complete after {next} rounds of input, state-ok")));
    };
    ask(questions, has_state.then_some(next))
}

/// An answer is an object; anything else is asked for again.
pub(crate) fn has_answer(responses: Option<&InputResponses>, key: &str) -> bool {
    responses.and_then(|all| all.get(key)).is_some_and(Value::is_object)
}

fn can_answer(capabilities: &ClientCapabilities, question: &Value) -> bool {
    match question["method"].as_str() {
        Some("elicitation/create") => capabilities.elicitation.is_some(),
        Some("sampling/createMessage") => capabilities.sampling.is_some(),
        _ => capabilities.roots.is_some(),
    }
}

/// The number of a round that was asked, as this server sealed it.
fn opened(sealed: &str) -> Result<usize, ErrorData> {
    SEALED.open_json(sealed).map_err(|_| ErrorData::invalid_params("the requestState is not ours", None))
}

pub(crate) fn ask(
    questions: &[(&'static str, Value)],
    state: Option<usize>,
) -> Result<CallToolResponse, ErrorData> {
    Ok(required(questions, state)?.into())
}

pub(crate) fn required(
    questions: &[(&'static str, Value)],
    state: Option<usize>,
) -> Result<InputRequiredResult, ErrorData> {
    let requests: InputRequests = questions
        .iter()
        .map(|(key, question)| ((*key).to_owned(), made::<InputRequest>(question.clone())))
        .collect();
    let sealed = state.map(|round| SEALED.seal_json(&round)).transpose();
    let sealed = sealed.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(InputRequiredResult::new(Some(requests), sealed))
}

pub(crate) fn text(text: &str) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

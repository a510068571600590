//! One call, asked for through each face, and its answer in one form.

mod by_mcp;

use std::net::SocketAddr;

use prost_reflect::{DynamicMessage, ReflectMessage};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    process::Command,
};
use tonic_types::StatusExt;
use toolwire::contract::proto::v1::{
    CallToolRequest, CallToolResponse, ConfirmationRequired, FieldViolation, ResultFormat, ToolError,
    ToolErrorCode,
    call_tool_request::{Input, Target},
    call_tool_response::Outcome,
    tool_result,
};

use crate::support::{program::Program, raw::Raw};

/// Every face that takes the calls of any tool.
pub(crate) const FACES: [Face; 5] =
    [Face::Grpc, Face::Rest, Face::CommandLine, Face::McpOverHttp, Face::McpOverStdio];
/// Those that take arguments as a text, which may be none. By MCP they are an object of the message.
pub(crate) const TAKING_TEXT: [Face; 3] = [Face::Grpc, Face::Rest, Face::CommandLine];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Face {
    Grpc,
    Rest,
    CommandLine,
    McpOverHttp,
    McpOverStdio,
}

/// Where a server listens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    pub(crate) grpc: SocketAddr,
    pub(crate) http: SocketAddr,
}

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Asked {
    tool: String,
    arguments: String,
    /// By which a repeat is recognised.
    pub(crate) key: String,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Data(Value),
    Error(ToolError),
    /// Code and message of a call that was not carried out.
    Refused(String, String),
    Confirmation(ConfirmationRequired),
}

impl Places {
    pub(crate) fn of(program: &Program) -> Self {
        Self { grpc: program.address, http: program.http.unwrap() }
    }
}

impl Asked {
    /// A call with what a model wrote as arguments, to the letter.
    pub(crate) fn of_model_text(tool: &str, arguments: &str, face: Face, number: usize) -> Self {
        Self { arguments: arguments.to_owned(), ..Self::new(tool, &Value::Null, face, number) }
    }

    /// A call of a tool; each face has a key of its own for each number.
    pub(crate) fn new(tool: &str, arguments: &Value, face: Face, number: usize) -> Self {
        let key = format!("6f1c2e0a-7b1d-4e9b-9c50-0d6a0f2b{:02}{number:02}", face as u8);
        Self { tool: tool.to_owned(), arguments: arguments.to_string(), key }
    }
}

impl Face {
    /// The name that records have.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Grpc | Self::CommandLine | Self::McpOverStdio => "grpc",
            Self::Rest => "rest",
            Self::McpOverHttp => "mcp",
        }
    }

    pub(crate) async fn ask(self, places: &Places, asked: &Asked) -> Answer {
        match self {
            Self::Grpc => by_grpc(places.grpc, asked).await,
            Self::Rest => by_rest(places.http, asked).await,
            Self::CommandLine => by_command_line(places.grpc, asked).await,
            Self::McpOverHttp => by_mcp::over_http(places, asked).await,
            Self::McpOverStdio => by_mcp::over_stdio(places, asked).await,
        }
    }
}

impl Answer {
    /// The code of a failure.
    pub(crate) fn code(&self) -> Option<&str> {
        match self {
            Self::Data(_) => None,
            Self::Error(error) => Some(error.code().as_str_name().strip_prefix("TOOL_ERROR_CODE_").unwrap()),
            Self::Refused(code, _) => Some(code),
            Self::Confirmation(_) => Some("CONFIRMATION_REQUIRED"),
        }
    }

    #[track_caller]
    pub(crate) fn confirmation_id(&self) -> &str {
        match self {
            Self::Confirmation(required) => &required.confirmation_id,
            other => panic!("{other:?}"),
        }
    }

    /// The same without what differs from call to call.
    pub(crate) fn without_its_own(mut self) -> Self {
        match &mut self {
            Self::Data(data) => {
                // Times, numbers of calls, and how many writes there were.
                remove(data, &["slept", "writes", "written_at", "call_id", "parent_call_id", "remaining"]);
            }
            Self::Error(error) => error.message = without_ids(&error.message),
            // The pipeline and the transport watch one deadline, and each says it in its words.
            Self::Refused(_, message) => message.clear(),
            Self::Confirmation(required) => {
                required.confirmation_id = String::new();
                required.request_id = String::new();
                required.expires_at = None;
                // The same as `arguments_json`, which all have.
                required.arguments = None;
            }
        }
        self
    }
}

fn remove(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(object) => {
            object.retain(|name, _| !names.contains(&name.as_str()));
            object.values_mut().for_each(|it| remove(it, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|it| remove(it, names)),
        _ => {}
    }
}

/// A message of a failure without the number of its call or confirmation.
fn without_ids(message: &str) -> String {
    let is_id = |word: &str| {
        let hex = word.trim_start_matches("conf_").trim_end_matches(['.', ',', ')', ':']);
        hex.len() >= 32 && hex.chars().all(|it| it.is_ascii_hexdigit() || it == '-')
    };
    message.split(' ').map(|word| if is_id(word) { "ID" } else { word }).collect::<Vec<_>>().join(" ")
}

async fn by_grpc(place: SocketAddr, asked: &Asked) -> Answer {
    let request = CallToolRequest {
        target: Some(Target::Tool(asked.tool.clone())),
        input: Some(Input::ArgumentsJson(asked.arguments.clone())),
        request_id: asked.key.clone(),
        result_format: ResultFormat::Json.into(),
        ..CallToolRequest::default()
    };
    let end = Raw::connect(place).await.call("/toolwire.v1.ToolService/CallTool", &[], &request).await;
    if end.status() != 0 {
        let status = end.grpc_status();
        let reason = status.get_details_error_info().map(|info| info.reason);
        return Answer::Refused(reason.unwrap_or_default(), status.message().to_owned());
    }
    match end.decode::<CallToolResponse>().remove(0).outcome.unwrap() {
        Outcome::ConfirmationRequired(required) => Answer::Confirmation(required),
        Outcome::Result(result) => match result.outcome.unwrap() {
            tool_result::Outcome::DataJson(text) => Answer::Data(serde_json::from_str(&text).unwrap()),
            tool_result::Outcome::Error(error) => Answer::Error(error),
            other => panic!("{other:?}"),
        },
    }
}

async fn by_rest(place: SocketAddr, asked: &Asked) -> Answer {
    let Asked { tool, arguments, key } = asked;
    let mut stream = TcpStream::connect(place).await.unwrap();
    let head = format!(
        "POST /v1/tools/{tool}:call HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         idempotency-key: {key}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{arguments}",
        arguments.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"));
    let Some(code) = body["code"].as_str() else { return Answer::Data(body["data"].clone()) };
    if code == "CONFIRMATION_REQUIRED" {
        return Answer::Confirmation(of_words(&body["confirmation"]));
    }
    let Some(known) = ToolErrorCode::from_str_name(&format!("TOOL_ERROR_CODE_{code}")) else {
        return Answer::Refused(code.to_owned(), body["detail"].as_str().unwrap().to_owned());
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let violation = |it: &Value| FieldViolation {
        pointer: text(&it["pointer"]),
        rule: text(&it["rule"]),
        description: text(&it["description"]),
    };
    Answer::Error(ToolError {
        code: known.into(),
        message: text(&body["detail"]),
        retryable: body["retryable"].as_bool().unwrap(),
        retry_after: body["retry_after_ms"].as_i64().map(|millis| prost_types::Duration {
            seconds: millis / 1_000,
            nanos: i32::try_from(millis % 1_000).unwrap() * 1_000_000,
        }),
        origin: of_words::<ToolError>(&json!({"origin": text(&body["origin"]).to_uppercase()})).origin,
        field_violations: body["field_violations"].as_array().into_iter().flatten().map(violation).collect(),
        attempts: u32::try_from(body["attempts"].as_u64().unwrap()).unwrap(),
    })
}

async fn by_command_line(place: SocketAddr, asked: &Asked) -> Answer {
    let Asked { tool, arguments, key } = asked;
    let server = format!("http://{place}");
    let output = Command::new(env!("CARGO_BIN_EXE_toolwire"))
        .args(["call", tool, "--json", arguments, "--request-id", key, "--server", &server])
        .args(["--format", "json"])
        .output()
        .await
        .unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let events: Vec<Value> = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = events.last().cloned().unwrap_or_default();
    if let Some(required) = last.get("confirmation_required") {
        return Answer::Confirmation(of_words(required));
    }
    if let Some(result) = last.get("result") {
        return match result.get("error") {
            Some(error) => Answer::Error(of_words(error)),
            None => Answer::Data(result["data"].clone()),
        };
    }
    // Said in words: `error: CODE: message`.
    let line = stderr.lines().find_map(|line| line.strip_prefix("error: "));
    let (code, message) =
        line.and_then(|it| it.split_once(": ")).unwrap_or_else(|| panic!("{stdout}{stderr}"));
    // To a person a time-out is one end, whichever deadline has passed.
    let code = if code == "TIMEOUT" { "DEADLINE_EXCEEDED" } else { code };
    Answer::Refused(code.to_owned(), message.to_owned())
}

/// A message as faces spell it: `arguments_json` opened as `arguments`, and enums by their words or full names.
fn of_words<M: ReflectMessage + Default>(value: &Value) -> M {
    let descriptor = M::default().descriptor();
    let mut value = value.clone();
    let object = value.as_object_mut().unwrap_or_else(|| panic!("no object"));
    for field in descriptor.fields() {
        if let Some(place) = field.name().strip_suffix("_json")
            && let Some(exact) = object.remove(place)
        {
            object.insert(field.name().to_owned(), exact.to_string().into());
        }
        let prost_reflect::Kind::Enum(of) = field.kind() else { continue };
        if let Some(Value::String(word)) = object.get_mut(field.name()) {
            let full = of.values().find(|it| it.name() == word || it.name().ends_with(&format!("_{word}")));
            full.unwrap_or_else(|| panic!("{word}")).name().clone_into(word);
        }
    }
    DynamicMessage::deserialize(descriptor, value).unwrap().transcode_to().unwrap()
}

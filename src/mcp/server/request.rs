//! A `tools/call`, and its translation to `InvokeTool` for the tools of another process.

use std::{collections::HashSet, mem, sync::Arc, time::Duration};

use rmcp::{
    ErrorData,
    model::{CallToolRequestParams, Implementation, InputResponses, JsonObject, RequestMetaObject},
};
use serde_json::Value;

use toolwire_contract::{
    arguments::{self, Arguments, Unreadable},
    convert,
    json::{self, raw},
    proto::v1::{
        CallRecord, ConfirmationRequired, InvokeToolRequest, ResultFormat, ToolContext,
        invoke_tool_request as wire,
    },
    redaction,
};
use toolwire_tool::context::{ClientName, RequestId};

/// The argument by which a model repeats a call. No tool has a parameter of this name.
pub(super) const REQUEST_ID: &str = "request_id";

/// The text of arguments that rmcp would change: it drops repeated keys and rounds numbers. The server receives the
/// text and says what is wrong with it.
#[derive(Clone, Debug)]
pub(super) struct UnreadableArguments(Arc<str>);

impl UnreadableArguments {
    /// Those of a message, if they are such.
    pub(super) fn of(message: &[u8]) -> Option<Self> {
        let [params] = raw::pick(str::from_utf8(message).ok()?, ["params"])?;
        let [arguments] = raw::pick(params?.get(), ["arguments"])?;
        let text = arguments?.get();
        json::parse(text).is_err().then(|| Self(text.into()))
    }

    /// Those of a value that is no object.
    pub(super) fn of_value(value: &Value) -> Self {
        Self(value.to_string().into())
    }

    /// The text of a member.
    pub(super) fn member(&self, name: &str) -> Option<Self> {
        let [value] = raw::pick(&self.0, [name])?;
        Some(Self(value?.get().into()))
    }

    pub(super) fn is_unreadable(&self) -> bool {
        json::parse(&self.0).is_err()
    }
}

/// A call that a client asks for.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub tool: String,
    pub(super) arguments: JsonObject,
    pub(super) unreadable: Option<UnreadableArguments>,
    /// The idempotency key of the call, if its client gave one.
    pub request_id: Option<RequestId>,
    pub timeout: Option<Duration>,
    /// How long it waits for a person.
    pub wait: Duration,
    /// Whether its outcome is delivered by another request.
    pub deliver_by_get_call: bool,
    /// What the client carries from an earlier round of the call.
    pub(super) request_state: Option<String>,
    pub(super) input_responses: InputResponses,
    pub task_id: String,
    pub session_id: String,
    pub expected_digest: String,
    /// What the client says it is.
    pub client: Option<ClientName>,
}

impl Invocation {
    /// Reads the parameters of a request and its metadata.
    pub(super) fn read(
        params: CallToolRequestParams,
        unreadable: Option<UnreadableArguments>,
        meta: &RequestMetaObject,
    ) -> Result<Self, ErrorData> {
        let arguments = Value::Object(params.arguments.unwrap_or_default());
        let arguments = arguments::from_value(arguments).map_err(|error| invalid(&error.to_string()))?;
        let text = |key: &str| match meta.get(key) {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(invalid(&format!("_meta[\"{key}\"] must be a text"))),
        };
        let request_id = match text("toolwire/request_id")?.as_str() {
            "" => None,
            id => Some(
                id.parse::<RequestId>()
                    .map_err(|error| invalid(&format!("_meta[\"toolwire/request_id\"] {error}")))?,
            ),
        };
        Ok(Self {
            tool: params.name.into_owned(),
            arguments,
            unreadable,
            request_id,
            timeout: timeout(meta)?,
            wait: Duration::ZERO,
            deliver_by_get_call: false,
            request_state: params.request_state,
            input_responses: params.input_responses.unwrap_or_default(),
            task_id: text("toolwire/task_id")?,
            session_id: text("toolwire/session_id")?,
            expected_digest: text("toolwire/expected_digest")?,
            client: client_name(meta.client_info()),
        })
    }

    /// Takes the arguments as the client wrote them, readable or not.
    pub fn take_arguments(&mut self) -> Result<Arguments, Unreadable> {
        match &self.unreadable {
            Some(UnreadableArguments(text)) => arguments::from_text(text),
            None => Ok(mem::take(&mut self.arguments)),
        }
    }

    /// Takes the `request_id` that a model wrote among the arguments. It must not contradict that of the metadata: what
    /// the model took for a new write, or for a repeat, would be the other.
    pub(super) fn take_request_id(&mut self) -> Result<(), String> {
        let Some(value) = self.arguments.shift_remove(REQUEST_ID) else { return Ok(()) };
        let id = match &value {
            Value::Null => return Ok(()),
            Value::String(text) => {
                text.parse::<RequestId>().map_err(|error| format!("request_id {error}"))?
            }
            other => return Err(format!("request_id must be a UUID, but is {other}")),
        };
        match self.request_id {
            Some(other) if other != id => {
                Err(format!("request_id must be that of _meta[\"toolwire/request_id\"], {other}, or absent"))
            }
            _ => {
                self.request_id = Some(id);
                Ok(())
            }
        }
    }

    /// The call of a record that waits for a person, to be made again once one has decided. `None` if its arguments are
    /// not known: those of a nested call that waits are not those of the call that made it, and sensitive ones are not
    /// shown. `parameters` are those of the tool, if it takes no others.
    pub(super) fn of_record(
        record: &CallRecord,
        required: &ConfirmationRequired,
        parameters: Option<&HashSet<String>>,
    ) -> Option<Self> {
        if required.path.len() > 1 {
            return None;
        }
        let mut arguments: JsonObject = serde_json::from_str(&required.arguments_json).ok()?;
        // Those that the server fills in are refused from a caller.
        if let Some(parameters) = parameters {
            arguments.retain(|name, _| parameters.contains(name));
        }
        if arguments.values().any(redaction::is_masked) {
            return None;
        }
        Some(Self {
            tool: record.tool.clone(),
            arguments,
            unreadable: None,
            request_id: Some(record.request_id.parse().ok()?),
            timeout: None,
            wait: Duration::ZERO,
            deliver_by_get_call: true,
            request_state: None,
            input_responses: InputResponses::default(),
            task_id: record.task_id.clone(),
            session_id: record.session_id.clone(),
            expected_digest: String::new(),
            client: None,
        })
    }

    /// The request over a connection. Data of more tokens than `keep_over_tokens` is kept.
    pub(super) fn message(&self, keep_over_tokens: u32) -> InvokeToolRequest {
        let arguments = match &self.unreadable {
            Some(UnreadableArguments(text)) => text.to_string(),
            None => Value::Object(self.arguments.clone()).to_string(),
        };
        InvokeToolRequest {
            target: Some(wire::Target::Tool(self.tool.clone())),
            input: Some(wire::Input::ArgumentsJson(arguments)),
            context: Some(ToolContext {
                task_id: self.task_id.clone(),
                session_id: self.session_id.clone(),
                ..ToolContext::default()
            }),
            request_id: self.request_id.map(|id| id.to_string()).unwrap_or_default(),
            result_format: ResultFormat::Json.into(),
            expected_digest: self.expected_digest.clone(),
            wait_for_confirmation: (!self.wait.is_zero()).then(|| convert::duration(self.wait)),
            keep_over_tokens,
            // Ignored for reads.
            resume_equal_write: true,
            deliver_by_get_call: self.deliver_by_get_call,
            ..InvokeToolRequest::default()
        }
    }
}

/// The name and the version that a client states.
pub(super) fn client_name(info: Option<Implementation>) -> Option<ClientName> {
    let Implementation { name, version, .. } = info?;
    let version = if version.is_empty() { version } else { format!("/{version}") };
    ClientName::stated(&format!("{name}{version}"))
}

fn timeout(meta: &RequestMetaObject) -> Result<Option<Duration>, ErrorData> {
    match meta.get("toolwire/timeout_ms") {
        None => Ok(None),
        Some(value) => match value.as_u64() {
            Some(milliseconds) => Ok(Some(Duration::from_millis(milliseconds))),
            None => Err(invalid("_meta[\"toolwire/timeout_ms\"] must be a whole number of milliseconds")),
        },
    }
}

fn invalid(what: &str) -> ErrorData {
    ErrorData::invalid_params(what.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolwire_contract::redaction::REDACTED;

    use super::*;

    fn read(arguments: Value, meta: Value) -> Result<Invocation, ErrorData> {
        let Value::Object(arguments) = arguments else { unreachable!("arguments are objects") };
        let Value::Object(meta) = meta else { unreachable!("metadata is an object") };
        let params = CallToolRequestParams::new("refund").with_arguments(arguments);
        Invocation::read(params, None, &RequestMetaObject::from(meta))
    }

    #[test]
    fn metadata_is_read_and_malformed_metadata_refused() {
        let meta = json!({"toolwire/timeout_ms": 1500, "toolwire/task_id": "t", "toolwire/session_id": "s"});
        let call = read(json!({"n": 1}), meta).unwrap();
        assert_eq!(call.timeout, Some(Duration::from_millis(1500)));
        let message = call.message(0);
        let context = message.context.unwrap();
        assert_eq!((context.task_id.as_str(), context.session_id.as_str()), ("t", "s"));
        for meta in [
            json!({"toolwire/timeout_ms": "1s"}),
            json!({"toolwire/timeout_ms": -1}),
            json!({"toolwire/task_id": 7}),
            json!({"toolwire/request_id": "one"}),
        ] {
            assert!(read(json!({}), meta.clone()).is_err(), "{meta}");
        }
    }

    #[test]
    fn the_request_id_is_taken_out_of_the_arguments_and_must_not_contradict_the_metadata() {
        let [first, second] = [RequestId::generate(), RequestId::generate()];
        let arguments = json!({"amount": 5, "request_id": second.to_string()});
        for meta in [json!({}), json!({"toolwire/request_id": second.to_string()})] {
            let mut call = read(arguments.clone(), meta).unwrap();
            call.take_request_id().unwrap();
            assert_eq!((call.request_id, call.arguments.len()), (Some(second), 1));
        }
        let mut call = read(arguments, json!({"toolwire/request_id": first.to_string()})).unwrap();
        assert!(call.take_request_id().unwrap_err().contains(&first.to_string()));
        let mut call = read(json!({"request_id": "again"}), json!({})).unwrap();
        assert!(call.take_request_id().unwrap_err().starts_with("request_id must be"));
    }

    #[test]
    fn arguments_that_would_change_are_sent_as_they_are_written() {
        let of = |text: &str| UnreadableArguments::of(text.as_bytes()).map(|it| it.0.to_string());
        let call =
            |arguments: &str| format!(r#"{{"params": {{"name": "a", "arguments": {arguments}}}, "id": 1}}"#);
        for text in [r#"{"n": 18446744073709551616}"#, r#"{"n": 1, "n": 2}"#, r#"{"n": 0.10000000000000001}"#]
        {
            assert_eq!(of(&call(text)).as_deref(), Some(text));
        }
        for other in ["{}", r#"{"n": 0.1}"#, "null", "7"] {
            assert_eq!(of(&call(other)), None);
        }
        assert!([of("{}"), of("["), of(r#"{"params": []}"#)].iter().all(Option::is_none));
    }

    #[test]
    fn a_call_whose_arguments_are_not_all_known_is_not_made_again() {
        let again = |arguments: Value| {
            let record =
                CallRecord { request_id: RequestId::generate().to_string(), ..CallRecord::default() };
            let arguments_json = arguments.to_string();
            let required = ConfirmationRequired { arguments_json, ..ConfirmationRequired::default() };
            let parameters = HashSet::from(["to".to_owned(), "cards".to_owned()]);
            Invocation::of_record(&record, &required, Some(&parameters)).map(|it| it.arguments)
        };
        // What the server fills in is not the caller's.
        let known = again(json!({"to": "a", "secret": REDACTED})).unwrap();
        assert_eq!(Value::Object(known), json!({"to": "a"}));
        assert_eq!(again(json!({"to": REDACTED})), None);
        assert_eq!(again(json!({"to": "a", "cards": [{"number": REDACTED}]})), None);
    }

    #[test]
    fn arguments_that_nest_too_deep_are_refused() {
        let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
        assert!(read(json!({"a": deep}), json!({})).unwrap_err().message.contains("nest"));
    }
}

//! What a request says of its call, checked: the parts that every RPC that calls a tool has in common.

use std::{collections::HashMap, sync::Arc, time::Duration};

use serde_json::Value;
use tonic::{Extensions, Request, metadata::MetadataMap};

use crate::faces::transport::{Arrival, CallersTrace, TakenOver, authenticate::Bearer};
use crate::{
    clock,
    context::{InvalidId, RequestId, ToolContext, User},
    contract::{
        Refusal, Violation,
        arguments::Arguments,
        json,
        proto::v1::{self, invoke_tool_request::Input},
    },
    pipeline::{Arrived, Call, Target},
};

/// The longest `task_id` and `session_id`, in characters.
const MAX_ID: usize = 128;
/// The most entries of `attributes`.
const MAX_ATTRIBUTES: usize = 32;
/// The longest key and value of an attribute together, in bytes.
const MAX_ATTRIBUTE: usize = 1024;
/// The time of a call whose caller states none: longer than any cap.
const UNBOUNDED: Duration = Duration::from_hours(24);
/// Told when required parameters are missing from a structure without fields. Client libraries that load `.proto` files
/// at run time take a plain object for `google.protobuf.Struct` and drop all of its keys without a word.
const EMPTY_STRUCT: &str = "`arguments` arrived as an empty Struct. If your program did fill it, its proto loader \
                            dropped the keys: send `arguments_json`, or see docs/CLIENTS.md on Struct";

/// Who makes a request, for a method that is no tool.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user, by verified credentials.
    pub user: User,
    /// The session that the metadata names, if any.
    pub session_id: Option<String>,
}

impl Caller {
    /// Who makes a request. A session id that is too long is refused.
    ///
    /// # Panics
    /// If the method is public: then there is no user.
    pub fn of<T>(request: &Request<T>) -> Result<Self, Refusal> {
        Ok(Self { user: user(request.extensions()), session_id: session(request.metadata())? })
    }
}

/// A call with the identity and the deadline of its request.
pub(super) fn call(extensions: &Extensions, target: Target, arguments: Arguments) -> Call {
    let user = user(extensions);
    let arrival = extensions.get::<Arrival>();
    let arrived = arrival.map_or_else(Arrived::now, |it| Arrived { at: it.at, wall: it.wall });
    let timeout = arrival.and_then(|it| it.timeout).unwrap_or(UNBOUNDED);
    let deadline = arrived.at.checked_add(timeout).unwrap_or_else(|| clock::now() + UNBOUNDED);
    let credentials = extensions.get::<Bearer>().map(|bearer| bearer.0.clone());
    let trace_id = extensions.get::<CallersTrace>().map(|it| it.0);
    let context = ToolContext { trace_id, credentials, ..ToolContext::new(user, deadline) };
    Call { arrived, ..Call::new(context, target, arguments) }
}

/// Who makes a request.
pub(super) fn user(extensions: &Extensions) -> User {
    extensions.get::<User>().cloned().expect("every RPC of our services requires a user")
}

/// The call is complete and goes to the pipeline, which logs it.
pub(super) fn hand_over(extensions: &Extensions) {
    if let Some(taken_over) = extensions.get::<TakenOver>() {
        taken_over.set();
    }
}

/// What to call.
pub(super) fn target(tool: Option<Target>) -> Result<Target, Refusal> {
    match tool {
        Some(target) if !target.as_str().is_empty() => Ok(target),
        _ => Err(refuse("tool", "required", "or intent must be set; ListTools lists what you may call")),
    }
}

/// What to tell a caller that lacks required parameters, judging by the form in which its arguments came.
pub(super) fn missing_hint(input: Option<&Input>) -> Option<&'static str> {
    match input {
        Some(Input::Arguments(structure)) if structure.fields.is_empty() => Some(EMPTY_STRUCT),
        _ => None,
    }
}

/// Arguments given as a structure.
pub(super) fn arguments(structure: prost_types::Struct) -> Result<Arguments, Refusal> {
    bounded("arguments", Value::Object(json::from_struct(structure)))
}

/// Arguments given as JSON text.
pub(super) fn arguments_json(text: &str) -> Result<Arguments, Refusal> {
    let value = serde_json::from_str(text).map_err(|error| {
        refuse("arguments_json", "json", &format!("must be the text of a JSON object: {error}"))
    })?;
    bounded("arguments_json", value)
}

fn bounded(field: &str, value: Value) -> Result<Arguments, Refusal> {
    if !json::is_within_depth(&value) {
        return Err(refuse(field, "depth", &format!("must not nest deeper than {} levels", json::MAX_DEPTH)));
    }
    match value {
        Value::Object(arguments) => Ok(arguments),
        _ => Err(refuse(field, "type", "must be a JSON object, such as {\"symbol\": \"AAPL\"}")),
    }
}

/// An optional identifier for repeats.
pub(super) fn request_id(text: &str) -> Result<Option<RequestId>, Refusal> {
    let parse = |text: &str| {
        text.parse().map_err(|error: InvalidId| refuse("request_id", "format", &error.to_string()))
    };
    if text.is_empty() { Ok(None) } else { parse(text).map(Some) }
}

/// On whose behalf the tool is called. Identity and deadline are never taken from here.
pub(super) fn context(call: &mut Call, context: v1::ToolContext) -> Result<(), Refusal> {
    if claims(&context) {
        let message = "may set only task_id, session_id and attributes: identity comes from your credentials \
                       and the deadline from grpc-timeout";
        return Err(refuse("context", "read-only", message));
    }
    call.context.task_id = identifier("context.task_id", context.task_id)?;
    call.context.session_id = identifier("context.session_id", context.session_id)?;
    call.context.attributes = Arc::new(attributes(context.attributes)?.into_iter().collect());
    Ok(())
}

/// Task, session and `request_id` of a typed request, which travel as metadata.
pub(super) fn metadata(call: &mut Call, metadata: &MetadataMap) -> Result<(), Refusal> {
    call.request_id = request_id(text(metadata, "x-toolwire-request-id"))?;
    let task_id = text(metadata, "x-toolwire-task-id").to_owned();
    call.context.task_id = identifier("x-toolwire-task-id", task_id)?;
    call.context.session_id = session(metadata)?;
    Ok(())
}

/// The session of a typed request.
fn session(metadata: &MetadataMap) -> Result<Option<String>, Refusal> {
    const KEY: &str = "x-toolwire-session-id";
    identifier(KEY, text(metadata, KEY).to_owned())
}

fn text<'a>(metadata: &'a MetadataMap, key: &str) -> &'a str {
    metadata.get(key).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

fn claims(context: &v1::ToolContext) -> bool {
    let v1::ToolContext { user_id, user_email, user_role, call_id, parent_call_id, deadline, .. } = context;
    [user_id, user_email, user_role, call_id, parent_call_id].into_iter().any(|text| !text.is_empty())
        || deadline.is_some()
}

fn identifier(field: &str, text: String) -> Result<Option<String>, Refusal> {
    match text.chars().count() {
        0 => Ok(None),
        1..=MAX_ID => Ok(Some(text)),
        _ => Err(refuse(field, "max_length", &format!("must have at most {MAX_ID} characters"))),
    }
}

fn attributes(attributes: HashMap<String, String>) -> Result<HashMap<String, String>, Refusal> {
    let is_long = |(key, value): (&String, &String)| key.len() + value.len() > MAX_ATTRIBUTE;
    if attributes.len() > MAX_ATTRIBUTES || attributes.iter().any(is_long) {
        let message =
            format!("must have at most {MAX_ATTRIBUTES} entries of at most {MAX_ATTRIBUTE} bytes each");
        return Err(refuse("context.attributes", "max_properties", &message));
    }
    Ok(attributes)
}

/// An identifier that is none; its error names the field.
pub(super) fn invalid_id(pointer: &str, error: &InvalidId) -> Refusal {
    violation(pointer, "format", error.to_string())
}

/// A request with one thing wrong.
pub(super) fn refuse(pointer: &str, rule: &str, description: &str) -> Refusal {
    violation(pointer, rule, format!("{pointer} {description}"))
}

fn violation(pointer: &str, rule: &str, description: String) -> Refusal {
    Refusal::InvalidRequest(vec![Violation {
        pointer: pointer.to_owned(),
        rule: rule.to_owned(),
        description,
    }])
}

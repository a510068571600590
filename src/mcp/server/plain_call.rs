//! A `tools/call` over HTTP whose answer is one message, read and answered without the service of rmcp, which reads it
//! twice and runs three tasks for it: as much work as the call itself.
//!
//! Only a request that is sure to pass the checks of the service is read here. Every other one, such as a refused one
//! or one with progress, goes to the service. `tests/mcp/plain.rs` compares the two.

use bytes::Bytes;
use http::{
    HeaderMap, Method,
    header::{ACCEPT, CONTENT_TYPE},
    request::Parts,
};
use rmcp::{
    ErrorData,
    model::{
        CallToolRequestParams, ClientCapabilities, JsonObject, MetaObject, ProtocolVersion, RequestId,
        RequestMetaObject, ServerJsonRpcMessage, ServerResult,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{
    accepted_types,
    cancellations::cancelled,
    confirmation_mode::ConfirmationMode,
    handler::Handler,
    outcome::{self, Answer, NeedsScope},
    progress::Progress,
    request::Invocation,
    settings::Transport,
};
use toolwire_contract::{ToolName, json};
use toolwire_telemetry as telemetry;

pub(super) const METHOD: &str = "tools/call";
const PROGRESS_TOKEN: &str = "progressToken";
/// The beginning of the members of `_meta` by which a client describes itself and its request.
const PROTOCOL_PREFIX: &str = "io.modelcontextprotocol/";

/// A request that is read.
#[derive(Debug)]
pub(super) struct PlainCall {
    id: RequestId,
    params: CallToolRequestParams,
    meta: RequestMetaObject,
    mode: ConfirmationMode,
    /// Whether the request is of the revision that has `resultType` and headers of its own.
    is_newest: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message<'a> {
    jsonrpc: &'a str,
    id: RequestId,
    method: &'a str,
    #[serde(borrow)]
    params: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params<'a> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(default, rename = "_meta")]
    meta: JsonObject,
}

#[derive(Serialize)]
struct DataResponse<'a, R> {
    jsonrpc: &'static str,
    id: &'a RequestId,
    result: R,
}

impl PlainCall {
    /// Reads a request. `None` if it is for the service of rmcp.
    pub(super) fn read(Parts { method, headers, .. }: &Parts, body: &[u8]) -> Option<Self> {
        let takes_both = single(headers, ACCEPT.as_str()) == Some(accepted_types::BOTH);
        if method != Method::POST
            || !takes_both
            || single(headers, CONTENT_TYPE.as_str())? != "application/json"
        {
            return None;
        }
        let Message { jsonrpc, id, method, params } = object(body)?;
        if jsonrpc != "2.0" || method != METHOD {
            return None;
        }
        let Params { name, arguments, meta } = object(params.get().as_bytes())?;
        let meta = RequestMetaObject(MetaObject(meta));
        if meta.contains_key(PROGRESS_TOKEN) {
            return None;
        }
        let is_newest = is_newest(headers, &name, &meta)?;
        let capabilities = if is_newest { Some(meta.client_capabilities()?) } else { None };
        let mode = Self::mode(capabilities, is_newest)?;
        // Arguments that are none are for the service, which has words for them.
        let arguments = match arguments.map(|text| json::parse(text.get())) {
            None => JsonObject::new(),
            Some(Ok(Value::Object(arguments))) => arguments,
            Some(_) => return None,
        };
        let params = CallToolRequestParams::new(name).with_arguments(arguments);
        Some(Self { id, params, meta, mode, is_newest })
    }

    pub(super) fn id(&self) -> &RequestId {
        &self.id
    }

    /// The mode of a client, unless its call may become a task.
    fn mode(capabilities: Option<ClientCapabilities>, is_newest: bool) -> Option<ConfirmationMode> {
        let version = is_newest.then_some(ProtocolVersion::V_2026_07_28);
        let mode = ConfirmationMode::by(capabilities, version, Transport::Http);
        (!mode.takes_tasks).then_some(mode)
    }

    /// Carries the call out and renders its response, unless its token has too little scope. `None` if the service must
    /// check it: parameters of its tool travel as headers too.
    pub(super) async fn answer(self, handler: &Handler) -> Option<Result<Bytes, Box<NeedsScope>>> {
        let Self { id, params, meta, mode, is_newest } = self;
        let tool = handler.known().find(&handler.services, &params.name).await;
        if is_newest && matches!(&tool, Ok(Some(tool)) if tool.has_headers()) {
            return None;
        }
        if let Some(traceparent) = meta.get_traceparent() {
            telemetry::link_to(traceparent);
        }
        let answer = match Invocation::read(params, None, &meta) {
            Ok(invocation) => tokio::select! {
                biased;
                answer = invocation.carry_out(handler, tool, mode, Progress::silent()) => answer,
                // Dropping the call abandons it: a read stops, a write that has begun goes on.
                () = cancelled(handler.cancellable.as_deref()) => Err(outcome::cancelled()),
            },
            Err(error) => Err(error),
        };
        Some(match answer {
            Ok(Answer::NeedsScope(refused)) => Err(refused),
            answer => Ok(render(id, answer, is_newest)),
        })
    }
}

/// The members of an object. serde would also take a list for them.
fn object<'a, T: Deserialize<'a>>(text: &'a [u8]) -> Option<T> {
    let begins = text.trim_ascii_start().first() == Some(&b'{');
    begins.then(|| serde_json::from_slice(text).ok()).flatten()
}

/// Whether a request is of the newest revision or of an older one. `None` if its headers and metadata are not those of
/// a revision that is served.
fn is_newest(headers: &HeaderMap, name: &str, meta: &RequestMetaObject) -> Option<bool> {
    let newest = ProtocolVersion::V_2026_07_28;
    let version = match single(headers, "mcp-protocol-version") {
        None if headers.contains_key("mcp-protocol-version") => return None,
        version => version,
    };
    if version == Some(newest.as_str()) {
        // A name of a tool is its own form as a header.
        let names_it = name.parse::<ToolName>().is_ok() && single(headers, "mcp-name")? == name;
        let is_named = names_it && single(headers, "mcp-method")? == METHOD;
        return (is_named && meta.protocol_version()? == newest).then_some(true);
    }
    let is_served = version.is_none_or(Handler::serves);
    let describes_itself = meta.keys().any(|key| key.starts_with(PROTOCOL_PREFIX));
    (is_served && !describes_itself).then_some(false)
}

/// The value of a header that is sent once.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// The response as the service writes it.
fn render(id: RequestId, answer: Result<Answer, ErrorData>, is_newest: bool) -> Bytes {
    let text = match answer {
        Ok(Answer::Data(data)) if is_newest || data.is_object() => {
            let result = data.as_result(is_newest);
            serde_json::to_vec(&DataResponse { jsonrpc: "2.0", id: &id, result })
        }
        Ok(answer) => {
            let mut result = ServerResult::from(answer.into_response());
            if !is_newest {
                result.strip_result_type_for_legacy_peer();
                result.strip_non_object_output_for_legacy_peer();
            }
            serde_json::to_vec(&ServerJsonRpcMessage::response(result, id))
        }
        Err(error) => serde_json::to_vec(&ServerJsonRpcMessage::error(error, Some(id))),
    };
    text.expect("keys are texts").into()
}

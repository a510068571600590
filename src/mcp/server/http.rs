//! The face over HTTP: each request by itself, without sessions. Not here: users, hosts, origins and quotas, which the
//! listener has checked.

use std::{
    borrow::Cow,
    convert::Infallible,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE, WWW_AUTHENTICATE},
    request::Parts,
};
use http_body_util::{BodyExt, Collected, Full, combinators::BoxBody};
use rmcp::{
    ErrorData, ServerHandler,
    model::{ErrorCode, ProtocolVersion},
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde::Deserialize;
use serde_json::{Value, json};
use tonic::Status;
use tracing::{Instrument, Span};
use uuid::Uuid;

use super::{
    accepted_types::spell_accept,
    cancellations::Received,
    handler::Handler,
    invalid_message,
    listing::{EncodedPage, Page},
    outcome::NeedsScope,
    plain_call::{METHOD, PlainCall},
    request::UnreadableArguments,
    settings::ToolMode,
};
use toolwire_base::words::bytes_without_bom;
use toolwire_contract::ToolName;
use toolwire_telemetry::attribute;

/// Keep-alive interval of a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const JSON: &str = "application/json";
/// How much of a client's text a span shows, in bytes.
const MAX_SHOWN: usize = 128;

/// The body of an answer.
pub type ResponseBody = BoxBody<Bytes, Infallible>;

/// Names a client of the older revisions. The server holds nothing for it, so that nothing is lost where the next
/// request reaches another process.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// Answers a request, whose body is complete.
pub async fn answer(mut handler: Handler, mut parts: Parts, body: Bytes) -> Response<ResponseBody> {
    let body = without_bom(&body);
    spell_accept(&mut parts.headers);
    let is_list = handler.mode == ToolMode::List;
    let plain_call = if is_list { PlainCall::read(&parts, &body) } else { None };
    describe(&handler.span, &parts, plain_call.is_some(), &body);
    if let Some(client) = header(&parts, SESSION.as_str()) {
        let (cancellations, user) = (&handler.shared.cancellations, handler.user());
        let received = match &plain_call {
            Some(call) => Received::Request(cancellations.begin(user, client, call.id())),
            None => cancellations.read(user, client, &body),
        };
        match received {
            Received::Request(request) => handler.cancellable = Some(Arc::new(request)),
            // Before the notification is answered: a client that repeats its call then finds it given up.
            // A client that leaves now does not take its notification back.
            Received::OtherProcess(request) => {
                let services = handler.services.clone();
                let asked = async move { services.cancel_in_other_processes(request).await };
                let _ = tokio::spawn(asked.in_current_span()).await;
            }
            Received::Other => {}
        }
    }
    // Both are boxed, since axum moves this future several times before its first poll.
    if let Some(call) = plain_call
        && let Some(end) = Box::pin(call.answer(&handler)).await
    {
        return match end {
            Ok(message) => with_json(StatusCode::OK, message),
            Err(refused) => challenge(&body, &refused),
        };
    }
    Box::pin(answer_by_service(handler, parts, body)).await
}

/// Says on the span which method was asked for, and in which session.
fn describe(span: &Span, parts: &Parts, is_plain_call: bool, body: &[u8]) {
    if span.is_disabled() {
        return;
    }
    let method = if is_plain_call { METHOD.to_owned() } else { invalid_message::method_of(body) };
    for (name, text) in [
        (attribute::MCP_METHOD_NAME, method.as_str()),
        (attribute::MCP_SESSION_ID, header(parts, SESSION.as_str()).unwrap_or_default()),
    ] {
        if !text.is_empty() {
            span.record(name, &text[..text.floor_char_boundary(MAX_SHOWN)]);
        }
    }
}

async fn answer_by_service(mut handler: Handler, parts: Parts, body: Bytes) -> Response<ResponseBody> {
    handler.lookup_failure = prefetch_tool(&handler, &parts, &body).await.err();
    handler.unreadable = UnreadableArguments::of(&body);
    let (encoded_page, needed_scope) = (Arc::new(EncodedPage::new()), Arc::new(OnceLock::new()));
    handler.encoded_page = Some(Arc::clone(&encoded_page));
    handler.needed_scope = Some(Arc::clone(&needed_scope));
    // The newest revision, which names its methods in a header, has no handshake.
    let is_handshake =
        header(&parts, "mcp-method").is_none() && invalid_message::method_of(&body) == "initialize";
    let mut response = answer_by(handler, parts, body.clone()).await;
    if let Some(refused) = needed_scope.get() {
        return challenge(&body, refused);
    }
    if is_handshake && response.status().is_success() {
        let name = Uuid::new_v4().to_string().try_into().expect("hexadecimal digits and hyphens");
        response.headers_mut().insert(SESSION, name);
    }
    match encoded_page.get() {
        Some(page) => with_tools(response, page).await,
        None => response,
    }
}

/// Adds the encoded tools to a response to `tools/list`, since rmcp would encode each tool for each request.
async fn with_tools(response: Response<ResponseBody>, page: &Page) -> Response<ResponseBody> {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await.map(Collected::to_bytes);
    let completed = str::from_utf8(&body).ok().and_then(|text| page.write_into(text));
    // An error that came after the list has none.
    let completed = completed.map_or(body, Bytes::from);
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Full::new(completed).boxed())
}

/// Refuses a call whose token has too little scope. Clients read a challenge from a response that is no success alone.
fn challenge(body: &[u8], refused: &NeedsScope) -> Response<ResponseBody> {
    let message = serde_json::from_slice::<Value>(body).unwrap_or_default();
    let error = invalid_message::response(&invalid_message::id_of(&message), &refused.error());
    let mut response = json(StatusCode::FORBIDDEN, &error);
    response.headers_mut().extend(refused.challenge().map(|value| (WWW_AUTHENTICATE, value)));
    response
}

/// A byte order mark before a JSON text is ignored (RFC 8259 §8.1).
fn without_bom(body: &Bytes) -> Bytes {
    body.slice_ref(bytes_without_bom(body))
}

/// The header of the protocol that a request has more than once. Which one counts would be up to each reader.
fn repeated(headers: &HeaderMap) -> Option<&HeaderName> {
    if headers.len() == headers.keys_len() {
        return None;
    }
    let mut names = headers.keys().filter(|name| name.as_str().starts_with("mcp-"));
    names.find(|name| headers.get_all(*name).iter().nth(1).is_some())
}

/// Answers a request by any handler of the protocol.
pub async fn answer_by<H>(handler: H, mut parts: Parts, body: Bytes) -> Response<ResponseBody>
where
    H: ServerHandler + Clone,
{
    let body = without_bom(&body);
    spell_accept(&mut parts.headers);
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_keep_alive(Some(KEEP_ALIVE))
        // The listener has checked hosts and sizes.
        .disable_allowed_hosts()
        .with_max_request_body_bytes(usize::MAX);
    let refused = Refused {
        body: body.clone(),
        says_json: header(&parts, CONTENT_TYPE.as_str()).is_some_and(|kind| kind.starts_with(JSON)),
        version: header(&parts, "mcp-protocol-version").map(str::to_owned),
        revisions: handler.supported_protocol_versions().into_owned(),
    };
    if let Some(name) = repeated(&parts.headers) {
        let what = format!("the header `{name}` is sent more than once");
        return refused.respond(StatusCode::BAD_REQUEST, &ErrorData::invalid_request(what, None));
    }
    // rmcp knows older revisions than those that are served.
    if let Some(error) = refused.unserved_revision()
        && invalid_message::method_of(&refused.body) != "initialize"
    {
        return refused.respond(StatusCode::BAD_REQUEST, &error);
    }
    if let Some(error) = invalid_message::bad_cursor(&refused.body) {
        return json(StatusCode::OK, &error);
    }
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    let response = service.handle(Request::from_parts(parts, Full::new(body))).await;
    if !response.status().is_client_error() || is_json(&response) {
        return response;
    }
    refused.answer(response).await
}

/// Prefetches the called tool: rmcp checks `Mcp-Param-*` headers against its schema synchronously.
async fn prefetch_tool(handler: &Handler, parts: &Parts, body: &[u8]) -> Result<(), Status> {
    if handler.mode == ToolMode::Search || header(parts, "mcp-method") != Some("tools/call") {
        return Ok(());
    }
    let name = match header(parts, "mcp-name").filter(|name| name.parse::<ToolName>().is_ok()) {
        Some(name) => Cow::Borrowed(name),
        // The header may be in Base64, and rmcp compares what it says with the body.
        None => match serde_json::from_slice::<Called>(body) {
            Ok(called) => called.params.name,
            // Not a call: rmcp refuses it.
            Err(_) => return Ok(()),
        },
    };
    handler.known().find(&handler.services, &name).await.map(drop)
}

/// The part of a `tools/call` that names the tool.
#[derive(Deserialize)]
struct Called<'a> {
    #[serde(borrow)]
    params: Name<'a>,
}

#[derive(Deserialize)]
struct Name<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

fn header<'a>(parts: &'a Parts, name: &str) -> Option<&'a str> {
    parts.headers.get(name)?.to_str().ok()
}

fn is_json(response: &Response<ResponseBody>) -> bool {
    response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(JSON.as_bytes()))
}

/// What an error of JSON-RPC is made from if rmcp refuses a request in plain text, which clients cannot read.
struct Refused {
    body: Bytes,
    says_json: bool,
    version: Option<String>,
    revisions: Vec<ProtocolVersion>,
}

impl Refused {
    /// The refusal as an error of JSON-RPC.
    async fn answer(self, response: Response<ResponseBody>) -> Response<ResponseBody> {
        let (parts, text) = response.into_parts();
        let Ok(text) = text.collect().await.map(Collected::to_bytes);
        // The type of the body is right: it is no message.
        if parts.status == StatusCode::UNSUPPORTED_MEDIA_TYPE && self.says_json {
            return json(StatusCode::BAD_REQUEST, &invalid_message::error_of(&self.body));
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let error = self.unserved_revision().unwrap_or_else(|| ErrorData::invalid_request(text, None));
        self.respond(parts.status, &error)
    }

    fn respond(&self, status: StatusCode, error: &ErrorData) -> Response<ResponseBody> {
        let message = serde_json::from_slice::<Value>(&self.body).unwrap_or_default();
        json(status, &invalid_message::response(&invalid_message::id_of(&message), error))
    }

    fn unserved_revision(&self) -> Option<ErrorData> {
        let version = self.version.as_deref()?;
        if self.revisions.iter().any(|known| known.as_str() == version) {
            return None;
        }
        let data = json!({"requested": version, "supported": self.revisions});
        let code = ErrorCode::UNSUPPORTED_PROTOCOL_VERSION;
        Some(ErrorData::new(code, "Unsupported protocol version", Some(data)))
    }
}

fn json(status: StatusCode, message: &Value) -> Response<ResponseBody> {
    with_json(status, message.to_string().into())
}

fn with_json(status: StatusCode, text: Bytes) -> Response<ResponseBody> {
    let mut response = Response::new(Full::new(text).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
    response
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use prost::Message;
    use tonic::body::Body;
    use tower::{BoxError, service_fn};

    use super::{
        super::{Services, Settings, Transport},
        *,
    };
    use toolwire_contract::proto::v1::{GetToolResponse, ToolDefinition};

    /// A server with one tool, a parameter of which travels as a header too.
    fn handler() -> Handler {
        let answer = |_: Request<Body>| async {
            let schema = json!({"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
            let tool = ToolDefinition { input_schema_json: schema.to_string(), ..ToolDefinition::default() };
            let message = GetToolResponse { tool: tool.encode_to_vec().into() }.encode_to_vec();
            let length = u32::try_from(message.len()).expect("short").to_be_bytes();
            let frame = Bytes::from([&[0], &length[..], &message].concat());
            let trailers = HeaderMap::from_iter([("grpc-status".parse().expect("a name"), 0.into())]);
            let body = Full::new(frame).with_trailers(async { Some(Ok(trailers)) });
            let mut response = Response::new(Body::new(body));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
            Ok::<_, BoxError>(response)
        };
        let settings = Settings { page: 1_000, max_result_tokens: 25_000 };
        Handler::new(Services::new(service_fn(answer), usize::MAX), settings, Transport::Http)
    }

    /// It is moved through the layers several times for each request: with the futures of rmcp in it, that was more
    /// work than all the rest of the face.
    #[test]
    fn the_future_of_a_request_is_small() {
        let (parts, ()) = Request::post("/mcp").body(()).expect("valid").into_parts();
        let size = size_of_val(&answer(handler(), parts, Bytes::new()));
        assert!(size <= 12 * 1024, "{size} bytes");
    }

    #[tokio::test]
    async fn the_headers_of_a_call_are_checked_in_whatever_form_they_name_the_tool() {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "locate"}});
        for name in ["locate", "=?base64?bG9jYXRl?=", ""] {
            let handler = handler();
            let request = Request::post("/mcp").header("mcp-method", "tools/call").header("mcp-name", name);
            let (parts, ()) = request.body(()).expect("valid").into_parts();
            prefetch_tool(&handler, &parts, body.to_string().as_bytes()).await.expect("no failure");
            assert!(handler.get_tool("locate").is_some(), "{name}");
        }
    }
}

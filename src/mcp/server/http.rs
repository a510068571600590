//! The face over HTTP: each request by itself, without sessions. Not here: users, hosts, origins and quotas, which the
//! listener has checked.

use std::{borrow::Cow, convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE, request::Parts};
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

use super::{handler::Handler, malformed};
use toolwire_contract::ToolName;

/// Keep-alive interval of a silent stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const JSON: &str = "application/json";

/// The body of an answer.
pub type ResponseBody = BoxBody<Bytes, Infallible>;

/// Answers a request, whose body is complete.
pub async fn answer(mut handler: Handler, parts: Parts, body: Bytes) -> Response<ResponseBody> {
    handler.lookup_failure = learn_tool(&handler, &parts, &body).await.err();
    answer_by(handler, parts, body).await
}

/// Answers a request by any handler of the protocol.
pub async fn answer_by<H>(handler: H, parts: Parts, body: Bytes) -> Response<ResponseBody>
where
    H: ServerHandler + Clone,
{
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
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    let response = service.handle(Request::from_parts(parts, Full::new(body))).await;
    if !response.status().is_client_error() || is_json(&response) {
        return response;
    }
    refused.answer(response).await
}

/// Prefetches the called tool: rmcp checks `Mcp-Param-*` headers against its schema synchronously.
async fn learn_tool(handler: &Handler, parts: &Parts, body: &[u8]) -> Result<(), Status> {
    if header(parts, "mcp-method") != Some("tools/call") {
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

/// A request that was refused in plain text, which clients of the protocol cannot read.
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
        let is_malformed = parts.status == StatusCode::UNSUPPORTED_MEDIA_TYPE && self.says_json;
        let error = if is_malformed {
            malformed::error_of(&self.body)
        } else {
            let message = serde_json::from_slice::<Value>(&self.body).unwrap_or_default();
            let error = self.unknown_revision().unwrap_or_else(|| {
                ErrorData::invalid_request(String::from_utf8_lossy(&text).into_owned(), None)
            });
            malformed::response(&malformed::id_of(&message), &error)
        };
        let mut response = Response::new(Full::new(Bytes::from(error.to_string())).boxed());
        *response.status_mut() = if is_malformed { StatusCode::BAD_REQUEST } else { parts.status };
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        response
    }

    fn unknown_revision(&self) -> Option<ErrorData> {
        let version = self.version.as_deref()?;
        if self.revisions.iter().any(|known| known.as_str() == version) {
            return None;
        }
        let data = json!({"requested": version, "supported": self.revisions});
        let code = ErrorCode::UNSUPPORTED_PROTOCOL_VERSION;
        Some(ErrorData::new(code, "Unsupported protocol version", Some(data)))
    }
}

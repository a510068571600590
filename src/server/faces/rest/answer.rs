//! The response to a call: data with status 200, or a problem. Also JSON responses in general.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, StatusCode, header};
use opentelemetry::trace::TraceId;
use prost_reflect::MessageDescriptor;
use serde::Serialize;
use serde_json::Value;
use tonic::Status;

use super::{message, wire};
use crate::{
    faces::{
        http::problem::Problem,
        render::result::{self, ResultForm},
    },
    service::Tools,
};
use toolwire_base::offload;
use toolwire_contract::{
    ConfirmationRequired, Refusal, Terminal, ToolResult, convert,
    proto::v1::{self, tool_result},
};
use toolwire_engine::pipeline::Call;
use toolwire_tool::context::CallId;

/// Typical size of a response without its data, in bytes.
const ENVELOPE_BYTES: usize = 512;

const CALL_ID: HeaderName = HeaderName::from_static("x-toolwire-call-id");

/// Makes the responses to one call, each with the header that identifies it.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallResponder {
    call_id: CallId,
    /// The caller's trace.
    trace_id: Option<TraceId>,
}

/// The members before the data. The order matters: a model must read that text is from outside before it reads the
/// text.
#[derive(Serialize)]
struct Head<'a> {
    call_id: String,
    tool: &'a str,
    fetched_at: String,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
}

/// The member after the data.
#[derive(Serialize)]
struct Provenance<'a> {
    source_ids: &'a [String],
    as_of: &'a str,
    from_cache: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    age: Option<String>,
    warnings: &'a [String],
}

/// The member of data that is kept.
#[derive(Serialize)]
struct Kept<'a> {
    call_id: &'a str,
    tokens: u64,
    expires_at: String,
}

impl CallResponder {
    pub(super) fn new(call: &Call) -> Self {
        Self { call_id: call.context.call_id, trace_id: call.context.trace_id }
    }

    /// Adds the header with the identifier of the call.
    pub(super) fn with_call_id(self, mut response: Response) -> Response {
        let call_id = HeaderValue::try_from(self.call_id.to_string()).expect("identifiers are ASCII");
        response.headers_mut().insert(CALL_ID, call_id);
        response
    }

    /// The response to a call that was not carried out.
    pub(super) fn refuse(self, refusal: Refusal) -> Response {
        self.fail(Problem::from(refusal).with("call_id", self.call_id.to_string()))
    }

    pub(super) async fn respond(self, tools: &Tools, terminal: Terminal, form: ResultForm) -> Response {
        match terminal {
            Terminal::Result(result) => self.result(tools, result, form).await,
            Terminal::ConfirmationRequired(required) => self.fail(confirmation_required(*required)),
        }
    }

    async fn result(self, tools: &Tools, result: ToolResult, form: ResultForm) -> Response {
        let error = result.outcome.as_ref().err().cloned();
        let rendered = result::render(tools, result, form).await;
        let Some(error) = error else { return self.with_call_id(success(self.call_id, rendered)) };
        let problem = Problem::from(error).of_call(&self.call_id.to_string()).with("tool", rendered.tool);
        self.fail(match rendered.outcome {
            // The error as a model is to read it.
            Some(tool_result::Outcome::DataText(text)) => problem.with("data_text", text),
            _ => problem,
        })
    }

    fn fail(self, problem: Problem) -> Response {
        let problem = match self.trace_id {
            Some(trace_id) => problem.with("trace_id", trace_id.to_string()),
            None => problem,
        };
        self.with_call_id(problem.into_response())
    }
}

/// The response with the data of a call.
fn success(call_id: CallId, mut result: v1::ToolResult) -> Response {
    let provenance = result.provenance.take().unwrap_or_default();
    let data = match &result.outcome {
        Some(tool_result::Outcome::DataJson(data) | tool_result::Outcome::DataText(data)) => data.as_str(),
        _ => "null",
    };
    let mut body = Vec::with_capacity(data.len() + ENVELOPE_BYTES);
    write_json(&mut body, &Head::new(call_id, &result, provenance.untrusted_framing.as_ref()));
    // Without its closing brace: more members follow.
    body.pop();
    if let Some(tool_result::Outcome::DataText(text)) = &result.outcome {
        body.extend_from_slice(br#","data_text":"#);
        write_json(&mut body, text);
    } else {
        body.extend_from_slice(br#","data":"#);
        // The text as it is: parsed and written again, it would be slower and no more exact.
        body.extend_from_slice(data.as_bytes());
    }
    if let Some(kept) = &result.kept {
        body.extend_from_slice(br#","kept":"#);
        write_json(&mut body, &Kept::of(kept));
    }
    body.extend_from_slice(br#","provenance":"#);
    write_json(&mut body, &Provenance::of(&provenance));
    body.push(b'}');
    text(body)
}

impl<'a> Head<'a> {
    fn new(call_id: CallId, result: &'a v1::ToolResult, framing: Option<&'a v1::UntrustedFraming>) -> Self {
        Self {
            call_id: call_id.to_string(),
            tool: &result.tool,
            fetched_at: result.fetched_at.as_ref().map(ToString::to_string).unwrap_or_default(),
            meta: framing.map(|it| it.meta.as_str()),
            nonce: framing.map(|it| it.nonce.as_str()),
        }
    }
}

impl<'a> Kept<'a> {
    fn of(kept: &'a v1::KeptResult) -> Self {
        let expires_at = kept.expires_at.as_ref().map(ToString::to_string).unwrap_or_default();
        Self { call_id: &kept.call_id, tokens: kept.tokens, expires_at }
    }
}

impl<'a> Provenance<'a> {
    fn of(provenance: &'a v1::Provenance) -> Self {
        Self {
            source_ids: &provenance.source_ids,
            as_of: &provenance.as_of,
            from_cache: provenance.from_cache,
            age: provenance.age.as_ref().map(ToString::to_string),
            warnings: &provenance.warnings,
        }
    }
}

/// The problem of a call that a person must approve first: where to decide, and how to repeat the call.
pub fn confirmation_required(required: ConfirmationRequired) -> Problem {
    let location = format!("/v1/confirmations/{}", required.confirmation_id);
    let detail = format!(
        "a person must approve this call first ({}); make it again with the same Idempotency-Key afterwards. It would \
         do: {}",
        required.confirmation_id, required.summary
    );
    let confirmation = message::of(&convert::confirmation_required(required));
    Problem::new("CONFIRMATION_REQUIRED", StatusCode::PRECONDITION_REQUIRED, detail)
        .retryable(true, None)
        .with("confirmation", confirmation)
        .with_header(header::LOCATION, HeaderValue::try_from(location).expect("identifiers are ASCII"))
}

/// A JSON response that no cache stores.
pub(super) fn json(body: &impl Serialize) -> Response {
    let mut json = Vec::with_capacity(ENVELOPE_BYTES);
    write_json(&mut json, body);
    text(json)
}

/// The response with a message. The tag of a document in it is an `ETag` too, to which the next write can be bound.
pub(super) fn of_message(body: &Value) -> Response {
    let mut response = json(body);
    let etag = body["document"]["etag"].as_str().filter(|etag| !etag.is_empty());
    if let Some(tag) = etag.and_then(|etag| HeaderValue::try_from(format!("\"{etag}\"")).ok()) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// The same of JSON that is serialised already.
pub(super) fn text(json: impl Into<Body>) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
    ([(header::CONTENT_TYPE, JSON), (header::CACHE_CONTROL, NO_STORE)], json.into()).into_response()
}

/// Decodes a message whose type is known only at run time, and returns what `then` makes of its JSON. A large one is
/// processed under a permit of the user's.
pub(super) async fn serialise<T: Send + 'static>(
    output: MessageDescriptor,
    response: Bytes,
    then: impl FnOnce(&Value) -> T + Send + 'static,
) -> Result<T, Status> {
    let read = |response| Ok(message::of_dynamic(&wire::decode(output, response)?));
    offload::if_large(response.len(), || read(response).map(|body| then(&body))).await
}

fn write_json(json: &mut Vec<u8>, body: &impl Serialize) {
    serde_json::to_writer(json, body).expect("a body holds nothing that JSON cannot express");
}

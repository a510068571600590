//! The end of a call as one answer: data with status 200, or a problem.

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

/// What most answers need beside their data, in bytes.
const ROOM: usize = 512;

const CALL_ID: HeaderName = HeaderName::from_static("x-toolwire-call-id");

/// Which call is answered.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallName {
    call_id: CallId,
    /// The trace that its caller named.
    trace_id: Option<TraceId>,
}

/// What stands before the data: text from outside stands behind the words that say so.
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

/// What stands after it.
#[derive(Serialize)]
struct Provenance<'a> {
    source_ids: &'a [String],
    as_of: &'a str,
    from_cache: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    age: Option<String>,
    warnings: &'a [String],
}

impl CallName {
    pub(super) fn of(call: &Call) -> Self {
        Self { call_id: call.context.call_id, trace_id: call.context.trace_id }
    }

    /// The answer with the header that names the call.
    pub(super) fn note(self, mut response: Response) -> Response {
        let call_id = HeaderValue::try_from(self.call_id.to_string()).expect("identifiers are ASCII");
        response.headers_mut().insert(CALL_ID, call_id);
        response
    }

    /// A call that was refused.
    pub(super) fn refuse(self, refusal: Refusal) -> Response {
        self.fail(Problem::from(refusal).with("call_id", self.call_id.to_string()))
    }

    pub(super) async fn end(self, tools: &Tools, terminal: Terminal, form: ResultForm) -> Response {
        match terminal {
            Terminal::Result(result) => self.result(tools, result, form).await,
            Terminal::ConfirmationRequired(required) => self.fail(confirmation_required(*required)),
        }
    }

    async fn result(self, tools: &Tools, result: ToolResult, form: ResultForm) -> Response {
        let error = result.outcome.as_ref().err().cloned();
        let rendered = result::render(tools, result, form).await;
        let Some(error) = error else { return self.note(self.data(rendered)) };
        let problem = Problem::from(error).of_call(&self.call_id.to_string()).with("tool", rendered.tool);
        self.fail(match rendered.outcome {
            // What a model reads of it.
            Some(tool_result::Outcome::DataText(text)) => problem.with("data_text", text),
            _ => problem,
        })
    }

    fn data(self, result: v1::ToolResult) -> Response {
        let provenance = result.provenance.unwrap_or_default();
        let framing = provenance.untrusted_framing.as_ref();
        let data = match &result.outcome {
            Some(tool_result::Outcome::DataJson(data) | tool_result::Outcome::DataText(data)) => {
                data.as_str()
            }
            _ => "null",
        };
        let mut answer = Vec::with_capacity(data.len() + ROOM);
        spell(
            &mut answer,
            &Head {
                call_id: self.call_id.to_string(),
                tool: &result.tool,
                fetched_at: result.fetched_at.map(|at| at.to_string()).unwrap_or_default(),
                meta: framing.map(|it| it.meta.as_str()),
                nonce: framing.map(|it| it.nonce.as_str()),
            },
        );
        // Goes on behind what stands before the data.
        answer.pop();
        if let Some(tool_result::Outcome::DataText(text)) = &result.outcome {
            answer.extend_from_slice(br#","data_text":"#);
            spell(&mut answer, text);
        } else {
            answer.extend_from_slice(br#","data":"#);
            // The exact text, which is not read again.
            answer.extend_from_slice(data.as_bytes());
        }
        answer.extend_from_slice(br#","provenance":"#);
        spell(
            &mut answer,
            &Provenance {
                source_ids: &provenance.source_ids,
                as_of: &provenance.as_of,
                from_cache: provenance.from_cache,
                age: provenance.age.map(|age| age.to_string()),
                warnings: &provenance.warnings,
            },
        );
        answer.push(b'}');
        text(answer)
    }

    fn fail(self, problem: Problem) -> Response {
        let problem = match self.trace_id {
            Some(trace_id) => problem.with("trace_id", trace_id.to_string()),
            None => problem,
        };
        self.note(problem.into_response())
    }
}

/// A person must approve the call first: where, and with which key it is to be made again.
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

/// JSON that only its reader may cache.
pub(super) fn json(body: &impl Serialize) -> Response {
    let mut text = Vec::with_capacity(ROOM);
    spell(&mut text, body);
    self::text(text)
}

/// What a write came to. The tag of the document that was written binds the next write to it.
pub(super) fn of_write(body: &Value) -> Response {
    let mut response = json(body);
    let etag = body["document"]["etag"].as_str().filter(|etag| !etag.is_empty());
    if let Some(tag) = etag.and_then(|etag| HeaderValue::try_from(format!("\"{etag}\"")).ok()) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}

/// JSON that is spelled already.
pub(super) fn text(json: impl Into<Body>) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json");
    const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
    ([(header::CONTENT_TYPE, JSON), (header::CACHE_CONTROL, NO_STORE)], json.into()).into_response()
}

/// What is made of the text of a response whose type is known at run time only. That of a large one is spelled when it
/// is the user's turn.
pub(super) async fn serialise<T: Send + 'static>(
    output: MessageDescriptor,
    response: Bytes,
    then: impl FnOnce(&Value) -> T + Send + 'static,
) -> Result<T, Status> {
    let read = |response| Ok(message::of_dynamic(&wire::decode(output, response)?));
    offload::if_large(response.len(), || read(response).map(|body| then(&body))).await
}

fn spell(text: &mut Vec<u8>, body: &impl Serialize) {
    serde_json::to_writer(text, body).expect("a body holds nothing that JSON cannot express");
}

//! `HandleToolCall`: a call of a task's agent, and what its loop does next, on the wire.

use tonic::Request;

use super::wire;
use crate::{
    faces::{
        incoming,
        render::result::{self, ResultForm},
    },
    service::{
        Tools, request,
        tasks::{Detail, Handled},
    },
};
use toolwire_contract::{
    Refusal,
    arguments::{self, Arguments},
    convert, json,
    proto::{
        tasks::v1::{
            BlockAction, HandleToolCallRequest, HandleToolCallResponse, handle_tool_call_request::Input,
            handle_tool_call_response::Detail as Wire,
        },
        v1,
    },
};
use toolwire_engine::pipeline::{Call, CallOptions, Target};
use toolwire_state::tasks::StepRef;
use toolwire_tool::context::TaskId;

/// Maximum length of a model's identifier of a call, in characters.
const MAX_ID_LENGTH: usize = 128;

/// The call that a request asks for.
pub(super) fn call(message: Request<HandleToolCallRequest>) -> Result<(Box<Call>, ResultForm), Refusal> {
    let (_, extensions, message) = message.into_parts();
    let format = v1::ResultFormat::try_from(message.result_format).unwrap_or_default();
    let form = ResultForm::read(format, message.max_tokens)?;
    let arguments = match message.input {
        None => Ok(Arguments::new()),
        Some(Input::Arguments(structure)) => arguments::from_struct(structure),
        Some(Input::ArgumentsJson(text)) => arguments::from_text(&text),
    };
    let target = request::target(Some(Target::Tool(message.tool)))?;
    let mut call = incoming::call(&extensions, target, arguments);
    if message.task_id.is_empty() {
        return Err(request::refuse("task_id", "required", "must name a task; ListTasks lists yours"));
    }
    call.context.task_id = request::task_id("task_id", &message.task_id)?;
    call.request_id = request::request_id("request_id", &message.request_id)?;
    if message.tool_call_id.chars().count() > MAX_ID_LENGTH {
        let what = format!("must have at most {MAX_ID_LENGTH} characters");
        return Err(request::refuse("tool_call_id", "max_length", &what));
    }
    call.step_ref = Some(Box::new(StepRef {
        step: message.step,
        position: message.position.unwrap_or_default(),
        tool_call_id: message.tool_call_id,
        lease_token: message.lease_token,
    }));
    let options = CallOptions {
        expected_digest: request::expected_digest("expected_digest", &message.expected_digest)?,
        wait_for_confirmation: request::wait("wait_for_confirmation", message.wait_for_confirmation)?,
        require_confirmation: message.require_confirmation,
        keep_over_tokens: None,
        // A task's call is repeated by its place in the timeline.
        resume_equal_write: false,
        deliver_by_get_call: false,
    };
    call.options = options.if_any();
    incoming::hand_over(&extensions);
    Ok((call, form))
}

pub(super) async fn render(tools: &Tools, handled: Handled, form: ResultForm) -> HandleToolCallResponse {
    let detail = match handled.detail {
        Detail::Result(result) => Some(Wire::Result(result::render(tools, *result, form).await)),
        Detail::Value(arguments) => json::to_exact_struct(&arguments).map(Wire::Value),
        Detail::Block { status, reason, task_id, required } => Some(Wire::Block(BlockAction {
            status,
            reason: wire::reason(reason).into(),
            task_id: task_id.as_ref().map(TaskId::to_string).unwrap_or_default(),
            confirmation_required: required.map(|it| convert::confirmation_required(*it)),
        })),
    };
    HandleToolCallResponse {
        call_id: handled.call_id.to_string(),
        action: handled.then.into_str().to_owned(),
        detail,
        sequence: handled.sequence,
    }
}

//! Converts requests to calls of tools, and carries out those without events.

use std::sync::Arc;

use http::Extensions;

use crate::{
    faces::{
        incoming,
        render::result::{self, ResultForm},
    },
    service::{Tools, request},
};
use toolwire_contract::{
    Refusal,
    arguments::{self, Arguments},
    proto::v1::{CallToolResponse, InvokeToolRequest, invoke_tool_request},
};
use toolwire_engine::pipeline::{Call, CallOptions, Target};

/// The call that a request of `InvokeTool` or `CallTool` asks for.
pub(super) fn call(
    extensions: &Extensions,
    message: InvokeToolRequest,
) -> Result<(Box<Call>, ResultForm), Refusal> {
    use invoke_tool_request::{Input, Target as Named};
    let form = ResultForm::read(message.result_format(), message.max_tokens)?;
    let form = form.with_keep_over(message.keep_over_tokens)?;
    let target = message.target.map(|target| match target {
        Named::Tool(name) => Target::Tool(name),
        Named::Intent(intent) => Target::Intent(intent),
    });
    let missing_hint = incoming::missing_hint(message.input.as_ref());
    let arguments = match message.input {
        None => Ok(Arguments::new()),
        Some(Input::Arguments(structure)) => arguments::from_struct(structure),
        Some(Input::ArgumentsJson(text)) => arguments::from_text(&text),
    };
    let mut call = incoming::call(extensions, request::target(target)?, Arguments::new());
    call.set_arguments(arguments);
    call.given.missing_hint = missing_hint;
    call.request_id = request::request_id("request_id", &message.request_id)?;
    let options = CallOptions {
        expected_digest: request::expected_digest("expected_digest", &message.expected_digest)?,
        wait_for_confirmation: request::wait("wait_for_confirmation", message.wait_for_confirmation)?,
        require_confirmation: message.require_confirmation,
        keep_over_tokens: form.keep_over_tokens,
        resume_equal_write: message.resume_equal_write,
        deliver_by_get_call: message.deliver_by_get_call,
    };
    call.options = options.if_any();
    incoming::context(&mut call.context, message.context.unwrap_or_default())?;
    incoming::hand_over(extensions);
    Ok((call, form))
}

/// Carries a call out to its end.
pub(in crate::faces) fn finish(
    tools: &Tools,
    call: Box<Call>,
    form: ResultForm,
) -> impl Future<Output = Result<CallToolResponse, Refusal>> + Send {
    let (call_id, facts) = (call.context.call_id, Arc::clone(&call.facts));
    let end = tools.finish(call);
    async move {
        let outcome = Some(result::outcome(tools, end.await?, form).await);
        let request_id = facts.resumed_request_id().map(|it| it.to_string()).unwrap_or_default();
        Ok(CallToolResponse { call_id: call_id.to_string(), outcome, request_id })
    }
}

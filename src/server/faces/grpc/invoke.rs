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
    arguments::{self, Arguments, Unreadable},
    proto::v1::{CallToolResponse, InvokeToolRequest, ToolContext, invoke_tool_request},
};
use toolwire_engine::pipeline::{Call, CallOptions, Target};
use toolwire_tool::context::RequestId;

/// A request for a call, decoded: by `InvokeTool` and `CallTool`, or by the face for MCP.
pub(in crate::faces) struct CallRequest {
    pub(in crate::faces) target: Target,
    pub(in crate::faces) arguments: Result<Arguments, Unreadable>,
    /// A hint about how arguments get lost in this kind of request.
    pub(in crate::faces) missing_hint: Option<&'static str>,
    pub(in crate::faces) request_id: Option<RequestId>,
    pub(in crate::faces) options: CallOptions,
    pub(in crate::faces) context: ToolContext,
}

impl CallRequest {
    /// The call, with the identity and the deadline of the request that has these extensions.
    // Inline, so that no call copies this struct.
    #[inline]
    pub(in crate::faces) fn into_call(self, extensions: &Extensions) -> Result<Box<Call>, Refusal> {
        let mut call = incoming::call(extensions, self.target, self.arguments);
        call.given.missing_hint = self.missing_hint;
        call.request_id = self.request_id;
        call.options = self.options.if_any();
        incoming::context(&mut call.context, self.context)?;
        incoming::hand_over(extensions);
        Ok(call)
    }
}

/// The call that a request of `InvokeTool` or `CallTool` asks for, and the form of its result.
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
    let request = CallRequest {
        target: request::target(target)?,
        missing_hint: incoming::missing_hint(message.input.as_ref()),
        arguments: match message.input {
            None => Ok(Arguments::new()),
            Some(Input::Arguments(structure)) => arguments::from_struct(structure),
            Some(Input::ArgumentsJson(text)) => arguments::from_text(&text),
        },
        request_id: request::request_id("request_id", &message.request_id)?,
        options: CallOptions {
            expected_digest: request::expected_digest("expected_digest", &message.expected_digest)?,
            wait_for_confirmation: request::wait("wait_for_confirmation", message.wait_for_confirmation)?,
            require_confirmation: message.require_confirmation,
            keep_over_tokens: form.keep_over_tokens,
            resume_equal_write: message.resume_equal_write,
            deliver_by_get_call: message.deliver_by_get_call,
        },
        context: message.context.unwrap_or_default(),
    };
    Ok((request.into_call(extensions)?, form))
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

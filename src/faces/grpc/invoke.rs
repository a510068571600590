//! Calls of tools: requests to calls, and the events of a call to the messages of its stream.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use futures_util::Stream;
use tonic::{Request, Status};

use super::incoming;
use crate::{
    contract::{
        Refusal,
        arguments::Arguments,
        convert::ResultFormat,
        proto::v1::{
            CallToolRequest, InvokeToolRequest, InvokeToolResponse, call_tool_request, invoke_tool_request,
        },
        sequence::Sequence,
    },
    pipeline::{Call, CallStream, Step, Target, Wishes},
    service::request,
};

/// The call that an `InvokeTool` request asks for.
pub(super) fn invoke_request(message: Request<InvokeToolRequest>) -> Result<(Call, ResultFormat), Refusal> {
    use invoke_tool_request::{Input, Target as Named};
    let (_, extensions, message) = message.into_parts();
    let format = message.result_format().into();
    let target = message.target.map(|target| match target {
        Named::Tool(name) => Target::Tool(name),
        Named::Intent(intent) => Target::Intent(intent),
    });
    let missing_hint = incoming::missing_hint(message.input.as_ref());
    let arguments = match message.input {
        None => Arguments::new(),
        Some(Input::Arguments(structure)) => request::arguments_struct("arguments", structure)?,
        Some(Input::ArgumentsJson(text)) => request::arguments_text("arguments_json", &text)?,
    };
    let mut call = incoming::call(&extensions, request::target(target)?, arguments);
    call.missing_hint = missing_hint;
    call.request_id = request::request_id("request_id", &message.request_id)?;
    let wishes = Wishes {
        expected_digest: request::expected_digest("expected_digest", &message.expected_digest)?,
        wait_for_confirmation: request::wait("wait_for_confirmation", message.wait_for_confirmation)?,
        require_confirmation: message.require_confirmation,
    };
    call.wishes = wishes.if_any();
    incoming::context(&mut call, message.context.unwrap_or_default())?;
    incoming::hand_over(&extensions);
    Ok((call, format))
}

/// The call that a `CallTool` request asks for: the same fields under another name.
pub(super) fn call_request(request: Request<CallToolRequest>) -> Result<(Call, ResultFormat), Refusal> {
    use {call_tool_request as unary, invoke_tool_request as streamed};
    let same = request.map(|message| {
        let CallToolRequest { target, input, context, request_id, result_format, .. } = message;
        let target = target.map(|target| match target {
            unary::Target::Tool(name) => streamed::Target::Tool(name),
            unary::Target::Intent(intent) => streamed::Target::Intent(intent),
        });
        let input = input.map(|input| match input {
            unary::Input::Arguments(structure) => streamed::Input::Arguments(structure),
            unary::Input::ArgumentsJson(text) => streamed::Input::ArgumentsJson(text),
        });
        InvokeToolRequest {
            target,
            input,
            context,
            request_id,
            result_format,
            expected_digest: message.expected_digest,
            wait_for_confirmation: message.wait_for_confirmation,
            require_confirmation: message.require_confirmation,
        }
    });
    invoke_request(same)
}

/// The stream of a started call. Dropping it tells the call that its caller is gone.
#[derive(Debug)]
pub struct Invoked {
    started: CallStream,
    sequence: Sequence,
}

impl Invoked {
    pub(super) fn new(started: CallStream, format: ResultFormat) -> Self {
        Self { sequence: Sequence::new(started.call_id().to_string(), format), started }
    }
}

impl Stream for Invoked {
    type Item = Result<InvokeToolResponse, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { started, sequence } = self.get_mut();
        started.poll_next(cx).map(|step| step.map(|step| rendered(step, sequence)))
    }
}

fn rendered(step: Result<Step, Refusal>, sequence: &mut Sequence) -> Result<InvokeToolResponse, Status> {
    let event = match step? {
        Step::Event(event) => sequence.event(event),
        Step::Terminal(terminal) => sequence.terminal(terminal),
    };
    Ok(InvokeToolResponse { event: Some(event) })
}

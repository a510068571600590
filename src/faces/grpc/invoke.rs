//! Calls of tools: requests to calls, and the events of a call to the messages of its stream.

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use tonic::{Request, Status};

use super::incoming;
use crate::{
    clock,
    contract::{
        Refusal,
        arguments::Arguments,
        convert::{self, ResultFormat},
        proto::v1::{
            CallEvent, CallToolRequest, InvokeToolRequest, InvokeToolResponse, call_tool_request,
            invoke_tool_request,
        },
    },
    pipeline::{Call, CallStream, Step, Target},
};

/// The call that an `InvokeTool` request asks for.
pub(super) fn invoke_request(request: Request<InvokeToolRequest>) -> Result<(Call, ResultFormat), Refusal> {
    use invoke_tool_request::{Input, Target as Named};
    let (_, extensions, request) = request.into_parts();
    let format = request.result_format().into();
    let target = request.target.map(|target| match target {
        Named::Tool(name) => Target::Tool(name),
        Named::Intent(intent) => Target::Intent(intent),
    });
    let arguments = match request.input {
        None => Arguments::new(),
        Some(Input::Arguments(structure)) => incoming::arguments(structure)?,
        Some(Input::ArgumentsJson(text)) => incoming::arguments_json(&text)?,
    };
    let mut call = incoming::call(&extensions, incoming::target(target)?, arguments);
    call.request_id = incoming::request_id(&request.request_id)?;
    incoming::context(&mut call, request.context.unwrap_or_default())?;
    Ok((call, format))
}

/// The call that a `CallTool` request asks for: the same fields under another name.
pub(super) fn call_request(request: Request<CallToolRequest>) -> Result<(Call, ResultFormat), Refusal> {
    use {call_tool_request as unary, invoke_tool_request as streamed};
    let same = request.map(|CallToolRequest { target, input, context, request_id, result_format }| {
        let target = target.map(|target| match target {
            unary::Target::Tool(name) => streamed::Target::Tool(name),
            unary::Target::Intent(intent) => streamed::Target::Intent(intent),
        });
        let input = input.map(|input| match input {
            unary::Input::Arguments(structure) => streamed::Input::Arguments(structure),
            unary::Input::ArgumentsJson(text) => streamed::Input::ArgumentsJson(text),
        });
        InvokeToolRequest { target, input, context, request_id, result_format }
    });
    invoke_request(same)
}

/// The stream of a started call. Dropping it tells the call that its caller is gone.
pub(super) fn stream(
    started: CallStream,
    format: ResultFormat,
) -> BoxStream<'static, Result<InvokeToolResponse, Status>> {
    let call_id = started.call_id().to_string();
    let steps = stream::unfold(started, |mut started| async {
        let step = started.next().await?;
        Some((step, started))
    });
    let render = move |(sequence, step): (usize, Result<Step, Refusal>)| {
        let event = match step? {
            Step::Event(event) => convert::event(event),
            Step::Terminal(terminal) => convert::terminal(terminal, format),
        };
        Ok(InvokeToolResponse {
            event: Some(CallEvent {
                call_id: call_id.clone(),
                sequence: sequence as u64,
                event_time: Some(convert::timestamp(clock::wall())),
                event: Some(event),
            }),
        })
    };
    steps.enumerate().map(render).boxed()
}

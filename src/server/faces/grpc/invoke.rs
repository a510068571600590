//! Calls of tools: requests to calls, and the events of a call to the messages of its stream.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_util::{Stream, future::BoxFuture};
use tonic::{Request, Status};

use super::result::{self, Form};
use crate::{
    faces::incoming,
    service::{Tools, request},
};
use toolwire_contract::{
    Refusal, Terminal, ToolResult,
    arguments::{self, Arguments},
    proto::v1::{
        self, CallToolRequest, InvokeToolRequest, InvokeToolResponse, call_tool_request, invoke_tool_request,
    },
    sequence::Sequence,
};
use toolwire_engine::pipeline::{Call, CallStream, Step, Target, Wishes};

/// The call that an `InvokeTool` request asks for.
pub(super) fn invoke_request(message: Request<InvokeToolRequest>) -> Result<(Call, Form), Refusal> {
    use invoke_tool_request::{Input, Target as Named};
    let (_, extensions, message) = message.into_parts();
    let form = Form::read(message.result_format(), message.max_tokens)?;
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
    let call = incoming::call(&extensions, request::target(target)?, Arguments::new());
    let mut call = call.written(arguments);
    call.given.missing_hint = missing_hint;
    call.request_id = request::request_id("request_id", &message.request_id)?;
    let wishes = Wishes {
        expected_digest: request::expected_digest("expected_digest", &message.expected_digest)?,
        wait_for_confirmation: request::wait("wait_for_confirmation", message.wait_for_confirmation)?,
        require_confirmation: message.require_confirmation,
    };
    call.wishes = wishes.if_any();
    incoming::context(&mut call.context, message.context.unwrap_or_default())?;
    incoming::hand_over(&extensions);
    Ok((call, form))
}

/// The call that a `CallTool` request asks for: the same fields under another name.
pub(super) fn call_request(request: Request<CallToolRequest>) -> Result<(Call, Form), Refusal> {
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
            max_tokens: message.max_tokens,
        }
    });
    invoke_request(same)
}

/// The stream of a started call. Dropping it tells the call that its caller is gone.
#[derive(Debug)]
pub struct Invoked {
    started: CallStream,
    sequence: Sequence,
    /// What makes the text, where a model is to read the result.
    text: Option<Box<Text>>,
}

/// Makes the text that a model reads.
struct Text {
    tools: Tools,
    form: Form,
    under_way: Option<BoxFuture<'static, v1::ToolResult>>,
}

impl Invoked {
    /// The stream of a call, its result in the wanted form.
    pub fn new(started: CallStream, tools: &Tools, form: Form) -> Self {
        let text = || Box::new(Text { tools: tools.clone(), form, under_way: None });
        let sequence = Sequence::new(started.call_id().to_string(), form.data);
        Self { started, sequence, text: form.max_tokens.map(|_| text()) }
    }
}

impl Stream for Invoked {
    type Item = Result<InvokeToolResponse, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { started, sequence, text } = self.get_mut();
        let Some(text) = text else {
            return started.poll_next(cx).map(|step| step.map(|step| rendered(step, sequence)));
        };
        if text.under_way.is_none() {
            match ready!(started.poll_next(cx)) {
                Some(Ok(Step::Terminal(Terminal::Result(result)))) => text.begin(result),
                step => return Poll::Ready(step.map(|step| rendered(step, sequence))),
            }
        }
        let Some(under_way) = &mut text.under_way else { return Poll::Ready(None) };
        let result = ready!(under_way.as_mut().poll(cx));
        text.under_way = None;
        Poll::Ready(Some(Ok(InvokeToolResponse { event: Some(sequence.result(result)) })))
    }
}

impl Text {
    fn begin(&mut self, result: ToolResult) {
        let (tools, form) = (self.tools.clone(), self.form);
        self.under_way = Some(Box::pin(async move { result::rendered(&tools, result, form).await }));
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").field("form", &self.form).finish_non_exhaustive()
    }
}

fn rendered(step: Result<Step, Refusal>, sequence: &mut Sequence) -> Result<InvokeToolResponse, Status> {
    let event = match step? {
        Step::Event(event) => sequence.event(event),
        Step::Terminal(terminal) => sequence.terminal(terminal),
    };
    Ok(InvokeToolResponse { event: Some(event) })
}

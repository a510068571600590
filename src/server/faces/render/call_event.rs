//! The events of a call, as the messages of its stream.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_util::{Stream, future::BoxFuture};
use tonic::Status;

use super::result::{self, ResultForm};
use crate::service::Tools;
use toolwire_contract::{
    Refusal, Terminal, ToolResult,
    proto::v1::{self, InvokeToolResponse},
    sequence::Sequence,
};
use toolwire_engine::pipeline::{CallStream, Step};

/// The stream of a started call. Dropping it tells the call that its caller is gone.
#[derive(Debug)]
pub struct Invoked {
    started: CallStream,
    sequence: Sequence,
    /// Renders the result as text for a model, if that may be requested.
    text: Option<Box<Text>>,
}

/// Renders a result as text for a model.
struct Text {
    tools: Tools,
    form: ResultForm,
    under_way: Option<BoxFuture<'static, v1::ToolResult>>,
}

impl Invoked {
    /// The stream of a call, its result in the wanted form.
    pub fn new(started: CallStream, tools: &Tools, form: ResultForm) -> Self {
        let text = || Box::new(Text { tools: tools.clone(), form, under_way: None });
        // Known by now: the first step of the call has been read.
        let request_id = started.resumed_request_id().map(|it| it.to_string()).unwrap_or_default();
        let sequence = Sequence::new(started.call_id().to_string(), form.data).with_request_id(request_id);
        Self { started, sequence, text: form.counts_tokens().then(text) }
    }
}

impl Stream for Invoked {
    type Item = Result<InvokeToolResponse, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { started, sequence, text } = self.get_mut();
        let Some(text) = text else {
            return started.poll_next(cx).map(|step| step.map(|step| render_step(step, sequence)));
        };
        if text.under_way.is_none() {
            match ready!(started.poll_next(cx)) {
                Some(Ok(Step::Terminal(Terminal::Result(result)))) => text.begin(result),
                step => return Poll::Ready(step.map(|step| render_step(step, sequence))),
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
        self.under_way = Some(Box::pin(async move { result::render(&tools, result, form).await }));
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Text").field("form", &self.form).finish_non_exhaustive()
    }
}

fn render_step(step: Result<Step, Refusal>, sequence: &mut Sequence) -> Result<InvokeToolResponse, Status> {
    let event = match step? {
        Step::Event(event) => sequence.event(event),
        Step::Terminal(terminal) => sequence.terminal(terminal),
    };
    Ok(InvokeToolResponse { event: Some(event) })
}

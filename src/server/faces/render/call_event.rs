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
    form: ResultForm,
    /// What counts the tokens of the result, if that may be requested.
    counting: Option<Box<Tools>>,
    rendering: Rendering,
}

/// The result on its way to its form, where that takes long.
#[derive(Default)]
struct Rendering(Option<BoxFuture<'static, v1::ToolResult>>);

impl Invoked {
    /// The stream of a call, its result in the wanted form.
    pub fn new(started: CallStream, tools: &Tools, form: ResultForm) -> Self {
        // Known by now: the first step of the call has been read.
        let request_id = started.resumed_request_id().map(|it| it.to_string()).unwrap_or_default();
        let sequence = Sequence::new(started.call_id().to_string(), form.data).with_request_id(request_id);
        let counting = form.counts_tokens().then(|| Box::new(tools.clone()));
        Self { started, sequence, form, counting, rendering: Rendering::default() }
    }
}

impl Stream for Invoked {
    type Item = Result<InvokeToolResponse, Status>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Self { started, sequence, form, counting, rendering } = self.get_mut();
        if rendering.0.is_none() {
            match ready!(started.poll_next(cx)) {
                Some(Ok(Step::Terminal(Terminal::Result(result))))
                    if counting.is_some() || result::is_slow(&result, *form) =>
                {
                    rendering.begin(result, *form, counting.take());
                }
                step => return Poll::Ready(step.map(|step| render_step(step, sequence))),
            }
        }
        let Some(under_way) = &mut rendering.0 else { return Poll::Ready(None) };
        let result = ready!(under_way.as_mut().poll(cx));
        rendering.0 = None;
        Poll::Ready(Some(Ok(InvokeToolResponse { event: Some(sequence.result(result)) })))
    }
}

impl Rendering {
    fn begin(&mut self, result: ToolResult, form: ResultForm, counting: Option<Box<Tools>>) {
        self.0 = Some(match counting {
            Some(tools) => Box::pin(async move { result::render(&tools, result, form).await }),
            None => Box::pin(result::convert(result, form)),
        });
    }
}

impl fmt::Debug for Rendering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rendering").field(&self.0.is_some()).finish()
    }
}

fn render_step(step: Result<Step, Refusal>, sequence: &mut Sequence) -> Result<InvokeToolResponse, Status> {
    let event = match step? {
        Step::Event(event) => sequence.event(event),
        Step::Terminal(terminal) => sequence.terminal(terminal),
    };
    Ok(InvokeToolResponse { event: Some(event) })
}

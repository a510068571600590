//! A provider's answer as parts: text as it comes, then the calls together, then the end.

use futures_util::{Stream, StreamExt, stream};
use genai::chat::{ChatStream, ChatStreamEvent, StopReason, StreamEnd, ToolCall, Usage};
use tokio::time::{Instant, timeout_at};

use super::failure;
use crate::models::{self, ModelError, Part, Stop, bound::Length, call_ids::with_ids};

type Parted = Result<Part, ModelError>;

/// An answer that has begun.
pub(super) struct Open {
    /// What is there already.
    first: Vec<Parted>,
    rest: Option<ChatStream>,
    length: Length,
}

impl Open {
    /// An answer that came whole.
    pub(super) fn whole(parts: Vec<Part>) -> Self {
        Self { first: parts.into_iter().map(Ok).collect(), rest: None, length: Length::default() }
    }

    /// A stream, once something of the answer is there: what fails before may be tried again.
    pub(super) async fn start(mut stream: ChatStream) -> Result<Self, ModelError> {
        let mut length = Length::default();
        loop {
            let event = stream.next().await.ok_or(ModelError::Malformed)?;
            let event = event.map_err(|error| failure::of(&error))?;
            let first = parts(event, &mut length);
            if !first.is_empty() {
                return Ok(Self { first, rest: Some(stream), length });
            }
        }
    }

    /// The parts, none of them after the deadline.
    pub(super) fn parts(self, deadline: Instant) -> impl Stream<Item = Parted> + Send {
        let Self { first, rest, length } = self;
        let is_over = first.iter().any(is_last);
        let rest =
            stream::unfold((rest.filter(|_| !is_over), length), move |(rest, mut length)| async move {
                let mut rest = rest?;
                let parts = match timeout_at(deadline, rest.next()).await {
                    Err(_) => vec![Err(ModelError::TimedOut)],
                    // An answer without an end was cut.
                    Ok(None) => vec![Err(ModelError::Malformed)],
                    Ok(Some(Err(error))) => vec![Err(failure::of(&error))],
                    Ok(Some(Ok(event))) => parts(event, &mut length),
                };
                let rest = (!parts.iter().any(is_last)).then_some(rest);
                Some((stream::iter(parts), (rest, length)))
            });
        stream::iter(first).chain(rest.flatten())
    }
}

fn is_last(part: &Parted) -> bool {
    matches!(part, Err(_) | Ok(Part::End { .. }))
}

/// What an event says. Thoughts are the model's own.
fn parts(event: ChatStreamEvent, length: &mut Length) -> Vec<Parted> {
    match event {
        ChatStreamEvent::Chunk(chunk) if !chunk.content.is_empty() => {
            vec![length.add(chunk.content.len()).map(|()| Part::Text(chunk.content))]
        }
        ChatStreamEvent::ReasoningChunk(chunk) => {
            length.add(chunk.content.len()).err().map(Err).into_iter().collect()
        }
        ChatStreamEvent::End(end) => of_end(end, length),
        _ => Vec::new(),
    }
}

fn of_end(end: StreamEnd, length: &mut Length) -> Vec<Parted> {
    let usage = end.captured_usage.as_ref().map(usage).unwrap_or_default();
    let stop = end.captured_stop_reason.clone();
    let signatures: Vec<_> = end.captured_thought_signatures().unwrap_or_default();
    let signatures: Vec<_> = signatures.into_iter().map(ToOwned::to_owned).collect();
    let mut calls = end.captured_into_tool_calls().unwrap_or_default();
    // What stands before all calls goes back with the first.
    if let Some(first) = calls.first_mut().filter(|it| it.thought_signatures.is_none())
        && !signatures.is_empty()
    {
        first.thought_signatures = Some(signatures);
    }
    finish(calls, stop.as_ref(), usage, length)
}

fn finish(
    calls: Vec<ToolCall>,
    reason: Option<&StopReason>,
    usage: models::Usage,
    length: &mut Length,
) -> Vec<Parted> {
    let stop = match reason {
        Some(StopReason::ContentFilter(_)) => return vec![Err(ModelError::Refused)],
        Some(StopReason::MaxTokens(_)) => Stop::Length,
        _ if !calls.is_empty() => Stop::Calls,
        _ => Stop::Done,
    };
    if let Err(error) = calls.iter().try_for_each(|call| length.add(call.size())) {
        return vec![Err(error)];
    }
    let calls = with_ids(calls.into_iter().map(tool_call).collect());
    let calls = (!calls.is_empty()).then_some(Ok(Part::Calls(calls)));
    calls.into_iter().chain([Ok(Part::End { stop, usage })]).collect()
}

fn tool_call(call: ToolCall) -> models::ToolCall {
    models::ToolCall {
        id: call.call_id,
        tool: call.fn_name,
        arguments: call.fn_arguments,
        signatures: call.thought_signatures.unwrap_or_default(),
    }
}

fn usage(usage: &Usage) -> models::Usage {
    let tokens = |count: Option<i32>| count.and_then(|count| count.try_into().ok()).unwrap_or_default();
    models::Usage {
        input_tokens: tokens(usage.prompt_tokens),
        output_tokens: tokens(usage.completion_tokens),
    }
}

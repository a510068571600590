//! Converts entries of the store to events for a model.

use super::input::{Body, Event, Outcome, Request, ToolCall};
use toolwire_contract::ToolError;
use toolwire_state::tasks::entry::{self, CallType, Entry, Lengths, Text};
use toolwire_tokens::{self as tokens, KEPT};

/// Appended to the status of an approved call until it is carried out.
const APPROVED: &str = ": approved, and not carried out yet. Its result comes when this very call is made again, which is \
                        not for you to ask for.";

/// The request of a task; `None` unless the entry is the first one.
pub(super) fn request(entry: &Entry) -> Option<Request> {
    let entry::Body::Created(created) = &entry.body else { return None };
    let (text, documents) = (created.request.clone(), created.documents.clone());
    Some(Request { sequence: entry.sequence, text, documents })
}

pub(super) fn event(entry: Entry) -> Event {
    let lengths = entry.lengths;
    let body = match entry.body {
        entry::Body::Message(message) => Body::Message {
            speaker: message.speaker,
            tokens: if_inline(&message.text, lengths.input),
            text: text(message.text),
            opaque: message.opaque,
        },
        entry::Body::ToolCall(call) => Body::Call(tool_call(call, lengths)),
        entry::Body::Answer(answer) => Body::Answer {
            answers: answer.answers,
            outcome: Outcome {
                length: answer.result.as_ref().and_then(|result| if_inline(result, lengths.result)),
                content: content(answer.result, answer.error.as_ref(), answer.status),
                is_error: answer.error.is_some(),
                is_untrusted: answer.untrusted,
                documents: answer.documents,
            },
        },
        entry::Body::Decision(decision) => {
            let is_error = decision.error.is_some();
            let content = match decision.error {
                // The status alone reads like a success, but nothing was done yet.
                None => format!("{}{APPROVED}", decision.status),
                error @ Some(_) => content(None, error.as_ref(), decision.status),
            };
            let outcome = Outcome { content, is_error, ..Outcome::default() };
            Body::Decision { decides: decision.decides, outcome }
        }
        entry::Body::Created(_) | entry::Body::Started(_) | entry::Body::Ended(_) => Body::Other,
    };
    Event { sequence: entry.sequence, step: entry.step, position: entry.position, body }
}

fn tool_call(call: entry::ToolCall, lengths: Lengths) -> ToolCall {
    let outcome = Outcome {
        length: call.result.as_ref().and_then(|result| if_inline(result, lengths.result)),
        is_error: call.error.is_some(),
        is_untrusted: call.untrusted,
        content: content(call.result, call.error.as_ref(), call.status),
        // Documents of a call are passed to another task; the caller receives those of the answer.
        documents: Vec::new(),
    };
    ToolCall {
        id: call.tool_call_id,
        tool: call.tool.to_string(),
        input_tokens: if_inline(&call.input, lengths.input),
        input: text(call.input),
        is_thought: call.tool_type == CallType::NonFunction,
        outcome,
    }
}

/// The question for an agent; `None` unless the entry is the first one of a question task.
pub(super) fn question(entry: &Entry, asker: &str) -> Option<Body> {
    let entry::Body::Created(created) = &entry.body else { return None };
    let text = format!(
        "Question for you from {asker}, which works for you:\n\n{}\n\nAnswer it: hand the answer off as your result, or \
         say it as your last text. Either ends this question, and who asked goes on with it.",
        created.request
    );
    Some(Body::Question { text, documents: created.documents.clone() })
}

/// Whether a text of the entry is stored externally, so that a page does not contain it.
pub(super) fn is_external(entry: &mut Entry) -> bool {
    let (input, result) = entry.body.texts();
    let is_external = |part: Option<&mut Text>| matches!(part, Some(Text::External { .. }));
    is_external(input) || is_external(result)
}

/// Drops opaque data of other providers.
pub(super) fn drop_foreign_opaque(entry: &mut Entry, provider: &str) {
    if let entry::Body::Message(message) = &mut entry.body {
        message.opaque.take_if(|opaque| opaque.provider != provider);
    }
}

/// Approximate size in bytes of an entry as a model sees it.
pub(super) fn size(entry: &mut Entry) -> u64 {
    let (input, result) = entry.body.texts();
    let size = |part: Option<&mut Text>| part.map_or(0, |part| part.size());
    size(input) + size(result) + opaque(&entry.body)
}

fn opaque(body: &entry::Body) -> u64 {
    match body {
        entry::Body::Message(message) => message.opaque.as_ref().map_or(0, |it| it.data.len() as u64),
        _ => 0,
    }
}

/// The minimum tokens of an entry that is not dropped: long results may be shortened to their ends, and thoughts may be
/// removed. For entries without counts, about half of the estimate.
pub(super) fn min_tokens(entry: &mut Entry) -> u64 {
    if matches!(&entry.body, entry::Body::ToolCall(call) if call.tool_type == CallType::NonFunction) {
        return 0;
    }
    let Lengths { input, result } = entry.lengths;
    let (of_input, of_result) = entry.body.texts();
    let guess = |part: Option<&mut Text>| part.map_or(0, |part| tokens::estimate(part.size()) / 2);
    let input = input.unwrap_or_else(|| guess(of_input));
    input + result.map_or_else(|| guess(of_result), |it| it.tokens).min(2 * KEPT)
}

/// The count of a text, if the text itself is present.
fn if_inline<T>(part: &Text, counted: Option<T>) -> Option<T> {
    counted.filter(|_| part.inline().is_some())
}

/// The result, or the error, or the status of a call that waits.
fn content(result: Option<Text>, error: Option<&ToolError>, status: String) -> String {
    match (result, error) {
        (Some(result), _) => text(result),
        (None, Some(error)) => match error.advice() {
            Some(advice) => format!("{error}\n{advice}"),
            None => error.to_string(),
        },
        (None, None) => status,
    }
}

fn text(part: Text) -> String {
    match part {
        Text::Inline(text) => text,
        Text::External { size_bytes, .. } => format!("[{size_bytes} bytes, not shown here]"),
    }
}

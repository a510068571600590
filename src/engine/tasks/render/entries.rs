//! Entries of the store as a model is to see them.

use super::given::{Body, Called, Event, Outcome, Request};
use toolwire_contract::ToolError;
use toolwire_store::tasks::entry::{self, CallType, Entry, Lengths, Text};
use toolwire_tokens::{self as tokens, KEPT};

/// What is said of a call that a person approved, until it was carried out.
const APPROVED: &str = ": approved, and not carried out yet. Its result comes when this very call is made again, which is \
                        not for you to ask for.";

/// What is to be done, if the entry is the first one.
pub(super) fn request(entry: &Entry) -> Option<Request> {
    let entry::Body::Created(created) = &entry.body else { return None };
    let (text, documents) = (created.request.clone(), created.documents.clone());
    Some(Request { sequence: entry.sequence, text, documents })
}

pub(super) fn event(entry: Entry) -> Event {
    let Lengths { input: input_tokens, result: length } = entry.lengths;
    let body = match entry.body {
        entry::Body::Message(message) => Body::Said {
            speaker: message.speaker,
            tokens: of_whole(&message.text, input_tokens),
            text: text(message.text),
            opaque: message.opaque,
        },
        entry::Body::ToolCall(call) => {
            let length = call.result.as_ref().and_then(|result| of_whole(result, length));
            let input_tokens = of_whole(&call.input, input_tokens);
            let content = content(call.result, call.error.as_ref(), call.status);
            Body::Called(Called {
                id: call.tool_call_id,
                tool: call.tool.to_string(),
                input: text(call.input),
                input_tokens,
                is_thought: call.tool_type == CallType::NonFunction,
                outcome: Outcome {
                    content,
                    length,
                    is_error: call.error.is_some(),
                    is_untrusted: call.untrusted,
                    // What is passed along is the other task's; the caller gets what comes back.
                    documents: Vec::new(),
                },
            })
        }
        entry::Body::Answer(answer) => Body::Answered {
            answers: answer.answers,
            outcome: Outcome {
                length: answer.result.as_ref().and_then(|result| of_whole(result, length)),
                content: content(answer.result, answer.error.as_ref(), answer.status),
                is_error: answer.error.is_some(),
                is_untrusted: answer.untrusted,
                documents: answer.documents,
            },
        },
        entry::Body::Decision(decision) => {
            let is_error = decision.error.is_some();
            Body::Decided {
                decides: decision.decides,
                outcome: Outcome {
                    content: match decision.error {
                        // It reads like a success, and nothing was done.
                        None => format!("{}{APPROVED}", decision.status),
                        error @ Some(_) => content(None, error.as_ref(), decision.status),
                    },
                    is_error,
                    ..Outcome::default()
                },
            }
        }
        entry::Body::Created(_) | entry::Body::Started(_) | entry::Body::Ended(_) => Body::Silent,
    };
    Event { sequence: entry.sequence, step: entry.step, position: entry.position, body }
}

/// What is asked, if the entry is the first one of a question.
pub(super) fn asked(entry: &Entry, asker: &str) -> Option<Body> {
    let entry::Body::Created(created) = &entry.body else { return None };
    let text = format!(
        "Question for you from {asker}, which works for you:\n\n{}\n\nAnswer it: hand the answer off as your result, or \
         say it as your last text. Either ends this question, and who asked goes on with it.",
        created.request
    );
    Some(Body::Asked { text, documents: created.documents.clone() })
}

/// Whether a part of an entry is kept apart, so that it is to be read alone.
pub(super) fn is_apart(entry: &mut Entry) -> bool {
    let (input, result) = entry.body.texts();
    let is_apart = |part: Option<&mut Text>| matches!(part, Some(Text::External { .. }));
    is_apart(input) || is_apart(result)
}

/// Drops what another provider wants back.
pub(super) fn without_others(entry: &mut Entry, provider: &str) {
    if let entry::Body::Message(message) = &mut entry.body {
        message.opaque.take_if(|opaque| opaque.provider != provider);
    }
}

/// About how many bytes of an entry a model would see.
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

/// The tokens that an entry takes at least, if it is not left out: of long results only the ends are kept, and of
/// thoughts nothing. Where nobody counted, about half of what it has.
pub(super) fn least(entry: &mut Entry) -> u64 {
    if matches!(&entry.body, entry::Body::ToolCall(call) if call.tool_type == CallType::NonFunction) {
        return 0;
    }
    let Lengths { input, result } = entry.lengths;
    let (of_input, of_result) = entry.body.texts();
    let guess = |part: Option<&mut Text>| part.map_or(0, |part| tokens::estimate(part.size()) / 2);
    let input = input.unwrap_or_else(|| guess(of_input));
    input + result.map_or_else(|| guess(of_result), |it| it.tokens).min(2 * KEPT)
}

/// What was counted, if the text is here that it was counted of.
fn of_whole<T>(part: &Text, counted: Option<T>) -> Option<T> {
    counted.filter(|_| part.inline().is_some())
}

/// The result; else why there is none; else what was begun.
fn content(result: Option<Text>, error: Option<&ToolError>, status: String) -> String {
    match (result, error) {
        (Some(result), _) => text(result),
        (None, Some(error)) => error.to_string(),
        (None, None) => status,
    }
}

fn text(part: Text) -> String {
    match part {
        Text::Inline(text) => text,
        Text::External { size_bytes, .. } => format!("[{size_bytes} bytes, not shown here]"),
    }
}

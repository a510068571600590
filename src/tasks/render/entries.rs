//! Entries of the store as a model is to see them.

use super::given::{Body, Called, Event, Opaque, Outcome, Reference, Request, Speaker};
use crate::{
    contract::ToolError,
    store::tasks::entry::{self, CallType, DocumentVersion, Entry, Part},
};

/// What is to be done, if the entry is the first one.
pub(super) fn request(entry: &Entry) -> Option<Request> {
    let entry::Body::Created(created) = &entry.body else { return None };
    let documents = references(&created.documents);
    Some(Request { sequence: entry.sequence, text: created.request.clone(), documents })
}

/// Any other entry.
pub(super) fn event(entry: Entry) -> Event {
    let body = match entry.body {
        entry::Body::Message(message) => Body::Said {
            speaker: match message.speaker {
                entry::Speaker::User => Speaker::User,
                entry::Speaker::Assistant => Speaker::Assistant,
            },
            text: text(message.text),
            opaque: message.opaque.map(|opaque| Opaque { provider: opaque.provider, data: opaque.data }),
        },
        entry::Body::ToolCall(call) => {
            let content = content(call.result, call.error.as_ref(), call.status);
            Body::Called(Called {
                id: call.tool_call_id,
                tool: call.tool.to_string(),
                input: text(call.input),
                is_thought: call.tool_type == CallType::NonFunction,
                outcome: Outcome {
                    content,
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
                content: content(answer.result, answer.error.as_ref(), answer.status),
                is_error: answer.error.is_some(),
                is_untrusted: answer.untrusted,
                documents: references(&answer.documents),
            },
        },
        entry::Body::Decision(decision) => Body::Decided {
            decides: decision.decides,
            outcome: Outcome {
                content: content(None, decision.error.as_ref(), decision.status),
                is_error: decision.error.is_some(),
                ..Outcome::default()
            },
        },
        entry::Body::Created(_) | entry::Body::Started(_) | entry::Body::Ended(_) => Body::Silent,
    };
    Event { sequence: entry.sequence, step: entry.step, position: entry.position, body }
}

/// Whether a part of an entry is kept apart, so that it is to be read alone.
pub(super) fn is_apart(entry: &Entry) -> bool {
    let mut body = entry.body.clone();
    let (input, result) = body.parts();
    let is_apart = |part: Option<&mut Part>| matches!(part, Some(Part::Apart { .. }));
    is_apart(input) || is_apart(result)
}

/// About how many bytes of an entry a model would see.
pub(super) fn size(entry: &Entry) -> u64 {
    let mut body = entry.body.clone();
    let (input, result) = body.parts();
    let size = |part: Option<&mut Part>| part.map_or(0, |part| part.size());
    size(input) + size(result)
}

/// The result; else why there is none; else what was begun.
fn content(result: Option<Part>, error: Option<&ToolError>, status: String) -> String {
    match (result, error) {
        (Some(result), _) => text(result),
        (None, Some(error)) => error.to_string(),
        (None, None) => status,
    }
}

fn text(part: Part) -> String {
    match part {
        Part::Whole(text) => text,
        Part::Apart { size_bytes, .. } => format!("[{size_bytes} bytes, not shown here]"),
    }
}

fn references(documents: &[DocumentVersion]) -> Vec<Reference> {
    let reference = |it: &DocumentVersion| Reference { path: it.path.clone(), version: it.version };
    documents.iter().map(reference).collect()
}

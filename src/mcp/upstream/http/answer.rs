//! Whether a message is the answer to a request, and what rmcp is to see of it.

use rmcp::model::{JsonRpcMessage, RequestId, ServerJsonRpcMessage};

use crate::upstream::{in_flight::is_same, reading, tap::Shared};

/// The data of an event as rmcp is to see it. `None` if it is to see nothing.
pub(super) fn readable_data(data: String, request: Option<&RequestId>, shared: &Shared) -> Option<String> {
    let read = reading::message_or_error(data.as_bytes(), request);
    shared.meter(read.as_ref().map(|(message, _)| message), data.len());
    let (message, is_whole) = read?;
    let Some(id) = request else { return Some(if is_whole { data } else { text(&message) }) };
    let was_ours = is_answer_to(&message, id);
    match correlate(message, id) {
        Correlated::Answer(_) if is_whole && was_ours => Some(data),
        Correlated::Answer(message) => Some(text(&message)),
        Correlated::Other(JsonRpcMessage::Response(_)) => None,
        Correlated::Other(message) => Some(if is_whole { data } else { text(&message) }),
    }
}

pub(super) enum Correlated {
    Answer(ServerJsonRpcMessage),
    Other(ServerJsonRpcMessage),
}

/// An error in the answer to a request is its error: who could not read a request does not know its identifier.
pub(super) fn correlate(message: ServerJsonRpcMessage, id: &RequestId) -> Correlated {
    match message {
        JsonRpcMessage::Error(it) => {
            Correlated::Answer(ServerJsonRpcMessage::error(it.error, Some(id.clone())))
        }
        message if is_answer_to(&message, id) => Correlated::Answer(message),
        message => Correlated::Other(message),
    }
}

fn is_answer_to(message: &ServerJsonRpcMessage, id: &RequestId) -> bool {
    match message {
        JsonRpcMessage::Response(it) => is_same(&it.id, id),
        JsonRpcMessage::Error(it) => it.id.as_ref().is_some_and(|it| is_same(it, id)),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => false,
    }
}

pub(super) fn text(message: &ServerJsonRpcMessage) -> String {
    serde_json::to_string(message).expect("a message of ours")
}

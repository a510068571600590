//! Events as text.

use std::fmt::Write as _;

use serde_json::{Value, json};
use tonic::Status;

use super::{super::event, topic::Topic};
use crate::faces::http::{problem::Problem, sse};

/// The name and the data of a watch's event; `None` of one that only keeps the watch alive, as comments do here.
pub(super) fn name(topic: Topic, value: &Value) -> Option<(String, String)> {
    let sse::Event { event, data, .. } = event::of(value);
    match event {
        "heartbeat" => None,
        "reset" => Some(reset(&[topic])),
        "" => Some((topic.into_str().to_owned(), data)),
        event => Some((format!("{}.{event}", topic.into_str()), data)),
    }
}

/// Says that what is known of topics is to be dropped: their state follows.
pub(super) fn reset(topics: &[Topic]) -> (String, String) {
    let topics: Vec<_> = topics.iter().map(Topic::into_str).collect();
    ("reset".to_owned(), json!({"topics": topics}).to_string())
}

/// Appends an event. JSON text has no line breaks.
pub(super) fn write(text: &mut String, id: &str, name: &str, data: &str) {
    let _ = write!(text, "id: {id}\nevent: {name}\ndata: {data}\n\n");
}

/// The event behind which a stream ends.
pub(super) fn error_event(status: Status) -> String {
    sse::Event { id: None, event: "error", data: Problem::from(status).to_json() }.serialise()
}

//! Server-sent events: `text/event-stream`.
//!
//! A comment is sent at once, so that proxies and readers see that the stream is open, and another one after each
//! silence. Not here: the last event of a stream that a layer above cuts off (`problem_layer`).

use std::{convert::Infallible, fmt::Write as _, time::Duration};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use http::{
    HeaderMap, HeaderName,
    header::{CACHE_CONTROL, CONTENT_TYPE},
};
use tokio::{
    select,
    time::{Instant, sleep_until},
};

use super::header;
use crate::service::request::refuse;
use toolwire_base::clock;
use toolwire_contract::Refusal;

/// The header in which a reader names the last event that it has.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The same as clients write it.
const LAST_EVENT_ID_WRITTEN: &str = "Last-Event-ID";

/// A stream that is silent for this long sends a keep-alive comment.
const SILENCE: Duration = Duration::from_secs(15);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// The identifier after which a reader can continue.
    pub id: Option<String>,
    /// Its type; empty: none.
    pub event: &'static str,
    pub data: String,
}

/// The id of the last event that a reader has. An empty one names none: a reader sends it after an event without an id.
pub fn last_event_id(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let id = header::text(headers, &LAST_EVENT_ID, LAST_EVENT_ID_WRITTEN)?;
    Ok(id.filter(|id| !id.is_empty()))
}

/// The id of the last event of a stream that counts its events.
pub fn last_sequence(headers: &HeaderMap) -> Result<Option<u64>, Refusal> {
    // The next one is counted too.
    let sequence = |id: &str| id.parse::<u64>().ok().filter(|id| *id < u64::MAX).ok_or_else(unknown_event);
    last_event_id(headers)?.map(sequence).transpose()
}

/// The refusal of an id that no event of a stream has.
fn unknown_event() -> Refusal {
    refuse(LAST_EVENT_ID_WRITTEN, "format", "must be the id of an event of this stream")
}

/// A response with these events.
pub fn response(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    stream_serialised(events.map(|event| event.serialise().into()))
}

/// The same of events that are serialised already, one or several in a piece.
pub fn stream_serialised(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let opened = Bytes::from_static(b": open\n\n");
    let rest = stream::unfold((events.boxed(), clock::now() + SILENCE), next);
    let body = stream::iter([opened]).chain(rest).map(Ok::<_, Infallible>);
    let headers = [
        (CONTENT_TYPE, "text/event-stream"),
        (CACHE_CONTROL, "no-store"),
        // nginx would buffer the response.
        (http::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(body)).into_response()
}

type Open = (stream::BoxStream<'static, Bytes>, Instant);

async fn next((mut events, due): Open) -> Option<(Bytes, Open)> {
    let piece = select! {
        // An event ends the silence.
        biased;
        event = events.next() => event?,
        () = sleep_until(due) => Bytes::from_static(b": keep-alive\n\n"),
    };
    Some((piece, (events, clock::now() + SILENCE)))
}

impl Event {
    pub fn serialise(&self) -> String {
        let mut text = String::with_capacity(self.data.len() + 64);
        if let Some(id) = &self.id {
            let _ = writeln!(text, "id: {id}");
        }
        if !self.event.is_empty() {
            let _ = writeln!(text, "event: {}", self.event);
        }
        for line in self.data.split('\n') {
            let _ = writeln!(text, "data: {line}");
        }
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    fn event(id: Option<&str>, event: &'static str, data: &str) -> Event {
        Event { id: id.map(ToOwned::to_owned), event, data: data.to_owned() }
    }

    #[tokio::test]
    async fn a_stream_is_open_at_once_and_events_are_spelled_line_by_line() {
        let events = [event(Some("0"), "started", "{}"), event(None, "", "a\nb")];
        let response = response(stream::iter(events));
        assert_eq!(response.headers()["cache-control"], "no-store");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let expected = ": open\n\nid: 0\nevent: started\ndata: {}\n\ndata: a\ndata: b\n\n";
        assert_eq!(body, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_says_that_it_is_open() {
        let mut body = response(stream::pending()).into_body();
        let mut said = Vec::new();
        for _ in 0..3 {
            said.push(body.frame().await.unwrap().unwrap().into_data().unwrap());
        }
        assert_eq!(said, [": open\n\n", ": keep-alive\n\n", ": keep-alive\n\n"]);
    }
}

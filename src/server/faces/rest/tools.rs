//! `GET /v1/tools:watch`: the events of `WatchTools`, whose definitions are serialised once for all readers; the
//! envelope around them is made for each watch.

use std::iter;

use axum::response::Response;
use bytes::Bytes;
use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use http::request::Parts;
use prost::Message;

use super::{definitions, event, message};
use crate::{
    faces::{
        http::{chunks, route::Http, sse},
        incoming, render,
    },
    service::{Listing, Watch, WatchEvent},
};
use toolwire_base::offload;
use toolwire_contract::{
    Refusal,
    proto::v1::{ToolView, WatchEventType, WatchToolsRequest},
};
use toolwire_engine::registry::Definition;

/// The user's tools as they are, then every change.
pub(super) async fn watch(
    http: Http,
    parts: &Parts,
    request: WatchToolsRequest,
) -> Result<Response, Refusal> {
    let view = request.view();
    let (tools, watch) = http.face.tools.watch(incoming::user(&parts.extensions));
    // Before the stream begins: a body is polled by a connection, which others share.
    definitions::serialise(&tools.clone().collect::<Vec<_>>(), view).await;
    Ok(sse::stream_serialised(snapshot(tools, view).chain(changes(watch, view))))
}

/// An event for each tool. Made as it is read, so that a stalled reader holds no memory.
fn snapshot(mut tools: Listing, view: ToolView) -> BoxStream<'static, Bytes> {
    let envelope = Envelope::new(WatchEventType::Added);
    let events = iter::from_fn(move || Some(envelope.wrap(&tools.next_tool()?.definition, view)));
    let mut parts = events.flatten();
    stream::iter(iter::from_fn(move || chunks::next(&mut parts))).boxed()
}

fn changes(watch: Watch, view: ToolView) -> BoxStream<'static, Bytes> {
    let next =
        move |mut watch: Watch| async move { Some((serialise(watch.next().await?, view).await, watch)) };
    stream::unfold(watch, next).boxed()
}

async fn serialise(event: WatchEvent, view: ToolView) -> Bytes {
    let (kind, tool) = match event {
        WatchEvent::Added(tool) => (WatchEventType::Added, tool),
        WatchEvent::Changed(tool) => (WatchEventType::Changed, tool),
        WatchEvent::Degraded(tool) => (WatchEventType::Degraded, tool),
        other => {
            let response = render::watch_event::render(other, view);
            let bytes = response.encoded_len();
            let work = move || event::of(&message::of(&response)).serialise().into();
            return offload::if_large(bytes, work).await;
        }
    };
    definitions::serialise(std::slice::from_ref(&tool), view).await;
    Envelope::new(kind).wrap(&tool.definition, view).concat().into()
}

/// The text of an event around its definition.
struct Envelope {
    before: Bytes,
    after: Bytes,
}

impl Envelope {
    fn new(kind: WatchEventType) -> Self {
        let mut rest = message::of(&render::watch_event::message(kind));
        let name = event::of(&rest).event;
        // In the order of the fields of the message: `type`, `tool`, then the others.
        let word = rest.as_object_mut().and_then(|it| it.shift_remove("type")).unwrap_or_default();
        let rest = rest.to_string();
        Self {
            before: format!("event: {name}\ndata: {{\"type\":{word},\"tool\":").into(),
            after: format!(",{}\n\n", rest.trim_start_matches('{')).into(),
        }
    }

    fn wrap(&self, definition: &Definition, view: ToolView) -> [Bytes; 3] {
        [self.before.clone(), definitions::json(definition, view), self.after.clone()]
    }
}

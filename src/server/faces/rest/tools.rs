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
        http::{pieces, route::Http, sse},
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

/// The tools there are, then what becomes of them.
pub(super) async fn watch(http: Http, parts: &Parts, asked: WatchToolsRequest) -> Result<Response, Refusal> {
    let view = asked.view();
    let (tools, watch) = http.face.tools.watch(incoming::user(&parts.extensions));
    definitions::serialise(&tools.clone().collect::<Vec<_>>(), view).await;
    Ok(sse::stream_serialised(there(tools, view).chain(news(watch, view))))
}

/// The tools there are. Spelled as it is read, so that a reader who takes nothing keeps no memory.
fn there(mut tools: Listing, view: ToolView) -> BoxStream<'static, Bytes> {
    let around = Around::new(WatchEventType::Added);
    let each = iter::from_fn(move || Some(around.tool(&tools.next_tool()?.definition, view)));
    let mut parts = each.flatten();
    stream::iter(iter::from_fn(move || pieces::next(&mut parts))).boxed()
}

fn news(watch: Watch, view: ToolView) -> BoxStream<'static, Bytes> {
    let next =
        move |mut watch: Watch| async move { Some((serialise(watch.next().await?, view).await, watch)) };
    stream::unfold(watch, next).boxed()
}

async fn serialise(news: WatchEvent, view: ToolView) -> Bytes {
    let (kind, tool) = match news {
        WatchEvent::Added(tool) => (WatchEventType::Added, tool),
        WatchEvent::Changed(tool) => (WatchEventType::Changed, tool),
        WatchEvent::Degraded(tool) => (WatchEventType::Degraded, tool),
        other => {
            let told = render::watch_event::render(other, view);
            let bytes = told.encoded_len();
            return offload::if_large(bytes, move || event::of(&message::of(&told)).serialise().into()).await;
        }
    };
    definitions::serialise(std::slice::from_ref(&tool), view).await;
    Around::new(kind).tool(&tool.definition, view).concat().into()
}

/// An event about a tool, without the tool.
struct Around {
    before: Bytes,
    after: Bytes,
}

impl Around {
    fn new(kind: WatchEventType) -> Self {
        let mut rest = message::of(&render::watch_event::message(kind));
        let name = event::of(&rest).event;
        let word = rest.as_object_mut().and_then(|it| it.shift_remove("type")).unwrap_or_default();
        let rest = rest.to_string();
        Self {
            before: format!("event: {name}\ndata: {{\"type\":{word},\"tool\":").into(),
            after: format!(",{}\n\n", rest.trim_start_matches('{')).into(),
        }
    }

    fn tool(&self, definition: &Definition, view: ToolView) -> [Bytes; 3] {
        [self.before.clone(), definitions::json(definition, view), self.after.clone()]
    }
}

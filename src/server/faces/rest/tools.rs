//! `GET /v1/tools:watch`: the events of `WatchTools`, in which each definition is the bytes that every reader of it
//! gets. What stands around them is made for each watch.

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
        incoming, rendered,
    },
    service::{Listing, News, Watch},
};
use toolwire_base::offload;
use toolwire_contract::{
    Refusal,
    proto::v1::{ToolView, WatchEventType, WatchToolsRequest},
};
use toolwire_engine::registry::Definition;

/// The tools there are, then what becomes of them.
pub(super) async fn watched(
    http: Http,
    parts: &Parts,
    asked: WatchToolsRequest,
) -> Result<Response, Refusal> {
    let view = asked.view();
    let (tools, watch) = http.face.tools.watch(incoming::user(&parts.extensions));
    definitions::made(&tools.clone().collect::<Vec<_>>(), view).await;
    Ok(sse::spelled(there(tools, view).chain(news(watch, view))))
}

/// The tools there are. Spelled as it is read, so that a reader who takes nothing keeps no memory.
fn there(mut tools: Listing, view: ToolView) -> BoxStream<'static, Bytes> {
    let around = Around::new(WatchEventType::Added);
    let each = iter::from_fn(move || Some(around.tool(&tools.next_tool()?.definition, view)));
    let mut parts = each.flatten();
    stream::iter(iter::from_fn(move || pieces::next(&mut parts))).boxed()
}

fn news(watch: Watch, view: ToolView) -> BoxStream<'static, Bytes> {
    let next = move |mut watch: Watch| async move { Some((spelled(watch.next().await?, view).await, watch)) };
    stream::unfold(watch, next).boxed()
}

async fn spelled(news: News, view: ToolView) -> Bytes {
    let (kind, tool) = match news {
        News::Added(tool) => (WatchEventType::Added, tool),
        News::Changed(tool) => (WatchEventType::Changed, tool),
        News::Degraded(tool) => (WatchEventType::Degraded, tool),
        other => {
            let told = rendered::news::rendered(other, view);
            let bytes = told.encoded_len();
            return offload::if_large(bytes, move || event::of(&message::of(&told)).spelled().into()).await;
        }
    };
    definitions::made(std::slice::from_ref(&tool), view).await;
    Around::new(kind).tool(&tool.definition, view).concat().into()
}

/// An event about a tool, without the tool.
struct Around {
    before: Bytes,
    after: Bytes,
}

impl Around {
    fn new(kind: WatchEventType) -> Self {
        let mut rest = message::of(&rendered::news::message(kind));
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

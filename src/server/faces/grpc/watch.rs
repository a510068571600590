//! `WatchTools`: each piece of news as a message.

use std::iter;

use futures_util::{StreamExt, stream};

use super::{Streamed, snapshot_stream::SnapshotPart};
use crate::{
    faces::render::watch_event::{message, render},
    service::{Listing, Watch},
};
use toolwire_contract::proto::v1::{ToolView, WatchEventType, WatchToolsResponse};

pub(super) fn there(mut tools: Listing, view: ToolView) -> SnapshotPart {
    let added = message(WatchEventType::Added);
    let there = move || {
        let tool = tools.next_tool()?.definition.encoded(view).clone();
        Some(Ok(WatchToolsResponse { tool, ..added.clone() }))
    };
    SnapshotPart::new(stream::iter(iter::from_fn(there)))
}

/// What comes after them. It ends only with the server or the registry.
pub(super) fn news(watch: Watch, view: ToolView) -> Streamed<WatchToolsResponse> {
    let news = move |mut watch: Watch| async move {
        let news = watch.next().await?;
        Some((Ok(render(news, view)), watch))
    };
    stream::unfold(watch, news).boxed()
}

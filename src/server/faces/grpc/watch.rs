//! `WatchTools`: the tools as they are, then every change, as messages.

use std::iter;

use futures_util::{StreamExt, stream};

use super::{Streamed, snapshot_stream::SnapshotPart};
use crate::{
    faces::render::watch_event::{message, render},
    service::{Listing, Watch},
};
use toolwire_contract::proto::v1::{ToolView, WatchEventType, WatchToolsResponse};

pub(super) fn snapshot(mut tools: Listing, view: ToolView) -> SnapshotPart {
    let added = message(WatchEventType::Added);
    let next = move || {
        let tool = tools.next_tool()?.definition.encoded(view).clone();
        Some(Ok(WatchToolsResponse { tool, ..added.clone() }))
    };
    SnapshotPart::new(stream::iter(iter::from_fn(next)))
}

/// The changes after the snapshot. The stream ends only with the server or the registry.
pub(super) fn changes(watch: Watch, view: ToolView) -> Streamed<WatchToolsResponse> {
    let next = move |mut watch: Watch| async move {
        let event = watch.next().await?;
        Some((Ok(render(event, view)), watch))
    };
    stream::unfold(watch, next).boxed()
}

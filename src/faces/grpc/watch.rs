//! `WatchTools`, rendered: each piece of news as a message.

use std::iter;

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use prost::Message;
use tonic::Status;

use crate::{
    clock,
    contract::{
        convert,
        proto::v1::{ToolDefinition, ToolView, WatchEventType, WatchToolsResponse},
    },
    registry::RegisteredTool,
    service::{Listing, News, Watch},
};

/// The stream. It ends only with the server or the registry.
pub(super) fn stream(
    (mut tools, watch): (Listing, Watch),
    view: ToolView,
) -> BoxStream<'static, Result<WatchToolsResponse, Status>> {
    let there = move || tools.next_tool().map(|tool| Ok(about(WatchEventType::Added, tool, view)));
    let news = stream::unfold(watch, move |mut watch| async move {
        let news = watch.next().await?;
        Some((Ok(rendered(news, view)), watch))
    });
    stream::iter(iter::from_fn(there)).chain(news).boxed()
}

fn about(kind: WatchEventType, tool: &RegisteredTool, view: ToolView) -> WatchToolsResponse {
    WatchToolsResponse { tool: tool.definition.encoded(view).clone(), ..message(kind) }
}

fn rendered(news: News, view: ToolView) -> WatchToolsResponse {
    match news {
        News::Added(tool) => about(WatchEventType::Added, &tool, view),
        News::Changed(tool) => about(WatchEventType::Changed, &tool, view),
        News::Degraded(tool) => about(WatchEventType::Degraded, &tool, view),
        News::Removed(name) => removed(name.into()),
        News::DataChanged(digest) => {
            WatchToolsResponse { data_digest: digest.to_string(), ..message(WatchEventType::DataChanged) }
        }
        News::Problems(problems) => {
            let problems = problems.into_iter().map(Into::into).collect();
            WatchToolsResponse { problems, ..message(WatchEventType::Problem) }
        }
        News::Synced => message(WatchEventType::Synced),
        News::Heartbeat => message(WatchEventType::Heartbeat),
    }
}

fn removed(name: String) -> WatchToolsResponse {
    let tool = ToolDefinition { name, ..ToolDefinition::default() };
    WatchToolsResponse { tool: tool.encode_to_vec().into(), ..message(WatchEventType::Removed) }
}

fn message(kind: WatchEventType) -> WatchToolsResponse {
    WatchToolsResponse {
        r#type: kind.into(),
        event_time: Some(convert::timestamp(clock::wall())),
        ..WatchToolsResponse::default()
    }
}

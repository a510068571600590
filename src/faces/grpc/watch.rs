//! `WatchTools`, rendered: each piece of news as a message.

use std::sync::Arc;

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
    service::{News, Watch},
};

/// The stream. It ends only with the server or the registry.
pub(super) fn stream(watch: Watch, view: ToolView) -> BoxStream<'static, Result<WatchToolsResponse, Status>> {
    stream::unfold(watch, move |mut watch| async move {
        let news = watch.next().await?;
        Some((Ok(rendered(news, view)), watch))
    })
    .boxed()
}

fn rendered(news: News, view: ToolView) -> WatchToolsResponse {
    let about = |kind, tool: &Arc<RegisteredTool>| WatchToolsResponse {
        tool: tool.definition.encoded(view).clone(),
        ..message(kind)
    };
    match news {
        News::Added(tool) => about(WatchEventType::Added, &tool),
        News::Changed(tool) => about(WatchEventType::Changed, &tool),
        News::Degraded(tool) => about(WatchEventType::Degraded, &tool),
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

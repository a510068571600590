//! `WatchTools`, rendered: each piece of news as a message.

use std::iter;

use futures_util::{
    StreamExt,
    stream::{self, BoxStream},
};
use prost::Message;
use tonic::Status;

use super::leading::Leading;
use crate::service::{Listing, News, Watch};
use toolwire_base::clock;
use toolwire_contract::{
    convert,
    proto::v1::{ToolDefinition, ToolView, WatchEventType, WatchToolsResponse},
};
use toolwire_engine::registry::RegisteredTool;

pub(super) fn there(mut tools: Listing, view: ToolView) -> Leading {
    let added = message(WatchEventType::Added);
    let there = move || {
        let tool = tools.next_tool()?.definition.encoded(view).clone();
        Some(Ok(WatchToolsResponse { tool, ..added.clone() }))
    };
    Leading::new(stream::iter(iter::from_fn(there)))
}

/// What comes after them. It ends only with the server or the registry.
pub(super) fn news(watch: Watch, view: ToolView) -> BoxStream<'static, Result<WatchToolsResponse, Status>> {
    let news = move |mut watch: Watch| async move {
        let news = watch.next().await?;
        Some((Ok(rendered(news, view)), watch))
    };
    stream::unfold(watch, news).boxed()
}

fn about(kind: WatchEventType, tool: &RegisteredTool, view: ToolView) -> WatchToolsResponse {
    WatchToolsResponse { tool: tool.definition.encoded(view).clone(), ..message(kind) }
}

/// A piece of news as a message.
pub(in crate::faces) fn rendered(news: News, view: ToolView) -> WatchToolsResponse {
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

/// An event of which only its kind is said.
pub(in crate::faces) fn message(kind: WatchEventType) -> WatchToolsResponse {
    WatchToolsResponse {
        r#type: kind.into(),
        event_time: Some(convert::timestamp(clock::wall())),
        ..WatchToolsResponse::default()
    }
}

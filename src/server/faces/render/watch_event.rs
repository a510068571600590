//! Changes of tools as messages.

use prost::Message;

use crate::service::WatchEvent;
use toolwire_base::clock;
use toolwire_contract::{
    convert,
    proto::v1::{ToolDefinition, ToolView, WatchEventType, WatchToolsResponse},
};
use toolwire_engine::registry::RegisteredTool;

pub fn render(news: WatchEvent, view: ToolView) -> WatchToolsResponse {
    match news {
        WatchEvent::Added(tool) => about(WatchEventType::Added, &tool, view),
        WatchEvent::Changed(tool) => about(WatchEventType::Changed, &tool, view),
        WatchEvent::Degraded(tool) => about(WatchEventType::Degraded, &tool, view),
        WatchEvent::Removed(name) => removed(name.into()),
        WatchEvent::DataChanged(digest) => {
            WatchToolsResponse { data_digest: digest.to_string(), ..message(WatchEventType::DataChanged) }
        }
        WatchEvent::Problems(problems) => {
            let problems = problems.into_iter().map(Into::into).collect();
            WatchToolsResponse { problems, ..message(WatchEventType::Problem) }
        }
        WatchEvent::Synced => message(WatchEventType::Synced),
        WatchEvent::Heartbeat => message(WatchEventType::Heartbeat),
    }
}

fn about(kind: WatchEventType, tool: &RegisteredTool, view: ToolView) -> WatchToolsResponse {
    WatchToolsResponse { tool: tool.definition.encoded(view).clone(), ..message(kind) }
}

fn removed(name: String) -> WatchToolsResponse {
    let tool = ToolDefinition { name, ..ToolDefinition::default() };
    WatchToolsResponse { tool: tool.encode_to_vec().into(), ..message(WatchEventType::Removed) }
}

/// An event of a kind, without its data.
pub fn message(kind: WatchEventType) -> WatchToolsResponse {
    WatchToolsResponse {
        r#type: kind.into(),
        event_time: Some(convert::timestamp(clock::wall())),
        ..WatchToolsResponse::default()
    }
}

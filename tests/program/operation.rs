//! What may befall a process in service: a disk without room, a reader of the log who stalls, a collector that hangs.

mod collector_that_hangs;
mod disk_without_room;
mod embedded_sources;
mod hold_offs;
mod lives;
mod shared_limits;
mod signals;
mod stalled_log;
mod write_ahead_log;

use std::path::Path;

use rustix::process::{Signal, kill_process};
use serde_json::Value;
use tonic::{Status, transport::Channel};
use toolwire::{
    contract::{
        json::to_struct,
        proto::v1::{
            CallToolRequest, CallToolResponse, call_tool_request, tool_service_client::ToolServiceClient,
        },
    },
    tool::context::RequestId,
};

use crate::support::{arguments, program::Program};

/// Calls a tool; a `request_id` has its call recorded.
async fn call(
    channel: &Channel,
    tool: &str,
    input: Value,
    request_id: Option<RequestId>,
) -> Result<CallToolResponse, Status> {
    let request = CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        request_id: request_id.map(|id| id.to_string()).unwrap_or_default(),
        ..CallToolRequest::default()
    };
    ToolServiceClient::new(channel.clone()).call_tool(request).await.map(tonic::Response::into_inner)
}

/// A process that drains at once.
async fn hasty(variables: &[(&str, &str)]) -> Program {
    let hasty = [("TOOLWIRE_DRAIN_LAME_DUCK", "0s")];
    Program::start(Path::new("."), &[], &[&hasty[..], variables].concat()).await
}

fn terminate(program: &Program) {
    kill_process(program.pid(), Signal::TERM).expect("running");
}

//! The gRPC face on the wire: what `docs/` and `proto/` say of it.

mod accepted;
mod ambiguous;
mod calls;
mod definitions;
mod kept_results;
mod malformed;
mod requests;

use std::{
    fs,
    io::{Read, Write},
    path::Path,
};

use bytes::{BufMut, Bytes, BytesMut};
use flate2::{Compress, Compression, FlushCompress, read::GzDecoder, write::GzEncoder};
use futures_util::StreamExt;
use http::{Method, StatusCode};
use prost::Message;
use serde_json::{Value, json};
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;
use toolwire::{
    contract::{
        json::{from_struct, to_struct},
        proto::v1::{
            CallToolRequest, CallToolResponse, CancelCallRequest, Chunk, DescribeForPlannerRequest,
            GetLimitsRequest, GetToolRequest, InvokeToolRequest, ListToolsRequest, ResultFormat,
            ToolCategory, ToolContext, ToolErrorCode, ToolResult, ToolView, WatchEventType,
            WatchToolsRequest, call_event::Event, call_tool_request, call_tool_response, cancel_call_request,
            invoke_tool_request, tool_result::Outcome,
        },
    },
    domains::{self, brokerage::proto::v1::GetPositionsRequest},
};

use crate::support::{
    arguments, patch_json,
    program::Program,
    raw::{Raw, frame},
    save,
    server::{Server, config, definition},
};

fn invoke(tool: &str, input: Value) -> InvokeToolRequest {
    InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool(tool.to_owned())),
        input: Some(invoke_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        ..InvokeToolRequest::default()
    }
}

fn call(tool: &str, input: Value) -> CallToolRequest {
    CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::Arguments(to_struct(&arguments(input)))),
        ..CallToolRequest::default()
    }
}

async fn called(
    server: &Server,
    request: impl tonic::IntoRequest<CallToolRequest>,
) -> Result<ToolResult, Status> {
    let response = server.tools().await.call_tool(request).await?.into_inner();
    match response.outcome {
        Some(call_tool_response::Outcome::Result(result)) => Ok(result),
        other => panic!("no result: {other:?}"),
    }
}

#[track_caller]
fn data(result: ToolResult) -> Value {
    match result.outcome {
        Some(Outcome::Data(structure)) => Value::Object(from_struct(structure)),
        Some(Outcome::DataJson(text)) => serde_json::from_str(&text).expect("JSON"),
        other => panic!("no data: {other:?}"),
    }
}

/// Every status carries exactly one `ErrorInfo` of our domain.
#[track_caller]
fn assert_status(status: &Status, code: Code, reason: &str) {
    assert_eq!(status.code(), code, "{status:?}");
    let info = status.get_details_error_info().expect("an ErrorInfo");
    assert_eq!((info.reason.as_str(), info.domain.as_str()), (reason, "toolwire"));
    assert!(status.message().len() <= 1024);
}

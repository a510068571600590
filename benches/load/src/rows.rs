//! What is measured: one request a row, and how many of them are under way at once.

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;

use crate::v1::{
    CallToolRequest, InvokeToolRequest, ListToolsRequest, ResultFormat, call_tool_request,
    invoke_tool_request,
};

/// One row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// The method.
    pub path: &'static str,
    /// The request, in its gRPC frame.
    pub request: Bytes,
    /// How many connections, and how many requests are under way on each.
    pub load: Load,
}

/// How many requests are under way at once.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Connections.
    pub connections: usize,
    /// Requests under way on each.
    pub streams: usize,
}

const MANY: Load = Load { connections: 4, streams: 16 };
const ONE: Load = Load { connections: 1, streams: 1 };

const CALL: &str = "/toolwire.v1.ToolService/CallTool";
const INVOKE: &str = "/toolwire.v1.ToolService/InvokeTool";
const LIST: &str = "/toolwire.v1.ToolService/ListTools";

const QUOTES: (&str, &str) = ("get_quotes", r#"{"symbol":"AAPL,VTI,BND,MSFT"}"#);
const TECHNICALS: (&str, &str) = ("get_technicals", r#"{"symbol":"RELIANCE"}"#);
const STREAM: (&str, &str) = ("debug_stream", r#"{"count":1}"#);

/// All rows.
pub fn all() -> Vec<Row> {
    vec![
        Row { name: "CallTool, JSON", path: CALL, request: call(QUOTES, ResultFormat::Json), load: MANY },
        Row { name: "CallTool, Struct", path: CALL, request: call(QUOTES, ResultFormat::Struct), load: MANY },
        Row {
            name: "CallTool, cached, JSON",
            path: CALL,
            request: call(TECHNICALS, ResultFormat::Json),
            load: MANY,
        },
        Row { name: "InvokeTool, 3 events", path: INVOKE, request: invoke(STREAM), load: MANY },
        Row { name: "ListTools", path: LIST, request: framed(&ListToolsRequest::default()), load: MANY },
        Row {
            name: "CallTool, one at a time",
            path: CALL,
            request: call(QUOTES, ResultFormat::Json),
            load: ONE,
        },
    ]
}

fn call((tool, arguments): (&str, &str), format: ResultFormat) -> Bytes {
    framed(&CallToolRequest {
        target: Some(call_tool_request::Target::Tool(tool.to_owned())),
        input: Some(call_tool_request::Input::ArgumentsJson(arguments.to_owned())),
        result_format: format.into(),
        ..CallToolRequest::default()
    })
}

fn invoke((tool, arguments): (&str, &str)) -> Bytes {
    framed(&InvokeToolRequest {
        target: Some(invoke_tool_request::Target::Tool(tool.to_owned())),
        input: Some(invoke_tool_request::Input::ArgumentsJson(arguments.to_owned())),
        result_format: ResultFormat::Json.into(),
        ..InvokeToolRequest::default()
    })
}

/// A message in a gRPC frame: not compressed, length, bytes.
fn framed(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut frame = BytesMut::with_capacity(5 + length);
    frame.put_u8(0);
    frame.put_u32(u32::try_from(length).expect("requests are small"));
    message.encode(&mut frame).expect("there is room");
    frame.freeze()
}

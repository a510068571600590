//! What is measured: one request a row, and how many of them are under way at once.

use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;

use crate::v1::{
    CallToolRequest, CancelCallRequest, DescribeForPlannerRequest, InvokeToolRequest, ListToolsRequest,
    ResultFormat, WatchToolsRequest, call_tool_request, cancel_call_request, invoke_tool_request,
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
    /// How much of the answer is read.
    pub until: Until,
}

/// How much of an answer is read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Until {
    /// All of it.
    End,
    /// Up to the event of a watch that says that the state at the beginning is complete.
    Synced,
}

/// How many requests are under way at once.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Connections.
    pub connections: usize,
    /// Requests under way on each.
    pub streams: usize,
}

pub const MANY: Load = Load { connections: 4, streams: 16 };
const ONE: Load = Load { connections: 1, streams: 1 };
/// For answers of megabytes.
const FEW: Load = Load { connections: 4, streams: 1 };

pub const CALL: &str = "/toolwire.v1.ToolService/CallTool";
pub const INVOKE: &str = "/toolwire.v1.ToolService/InvokeTool";
pub const CANCEL: &str = "/toolwire.v1.ToolService/CancelCall";
const LIST: &str = "/toolwire.v1.ToolService/ListTools";
const WATCH: &str = "/toolwire.v1.ToolService/WatchTools";
const DESCRIBE: &str = "/toolwire.v1.ToolService/DescribeForPlanner";

/// What the row that peers are measured with asks for.
pub const SYMBOLS: &str = "AAPL,VTI,BND,MSFT";
const QUOTES: (&str, &str) = ("get_quotes", r#"{"symbol":"AAPL,VTI,BND,MSFT"}"#);
/// The answer is shorter than the 256 bytes above which h2 writes a message by itself.
const QUOTE: (&str, &str) = ("get_quotes", r#"{"symbol":"AAPL"}"#);
const TECHNICALS: (&str, &str) = ("get_technicals", r#"{"symbol":"RELIANCE"}"#);
const STREAM: (&str, &str) = ("debug_stream", r#"{"count":1}"#);

impl Row {
    fn new(name: &'static str, path: &'static str, request: Bytes, load: Load) -> Self {
        Self { name, path, request, load, until: Until::End }
    }

    /// The row that peers are measured with, and what runs while something else is looked at.
    pub fn read() -> Self {
        Self::new("CallTool, JSON", CALL, call(QUOTES, ResultFormat::Json), MANY)
    }

    /// The same with other requests under way.
    pub fn under(self, name: &'static str, connections: usize, streams: usize) -> Self {
        Self { name, load: Load { connections, streams }, ..self }
    }

    /// A write that is carried out once for its `request_id`.
    pub fn write(request_id: &str) -> Self {
        let request = framed(&CallToolRequest {
            target: Some(call_tool_request::Target::Tool("debug_write".to_owned())),
            input: Some(call_tool_request::Input::ArgumentsJson(r#"{"value":"x"}"#.to_owned())),
            request_id: request_id.to_owned(),
            ..CallToolRequest::default()
        });
        Self::new("CallTool, write", CALL, request, MANY)
    }

    /// A watch, read until it is in step.
    pub fn watch() -> Self {
        let request = framed(&WatchToolsRequest::default());
        Self { until: Until::Synced, ..Self::new("WatchTools until SYNCED", WATCH, request, FEW) }
    }
}

/// All rows of the table.
pub fn all() -> Vec<Row> {
    vec![
        Row::read(),
        Row::new("CallTool, JSON, short", CALL, call(QUOTE, ResultFormat::Json), MANY),
        Row::new("CallTool, Struct", CALL, call(QUOTES, ResultFormat::Struct), MANY),
        Row::new("CallTool, cached, JSON", CALL, call(TECHNICALS, ResultFormat::Json), MANY),
        Row::new("InvokeTool, 3 events", INVOKE, invoke(STREAM), MANY),
        Row::new("ListTools", LIST, framed(&ListToolsRequest::default()), MANY),
        Row::new("CallTool, one at a time", CALL, call(QUOTES, ResultFormat::Json), ONE),
    ]
}

/// What tells all tools at once.
pub fn listings() -> Vec<Row> {
    let describe = framed(&DescribeForPlannerRequest::default());
    vec![
        Row::new("ListTools", LIST, framed(&ListToolsRequest::default()), FEW),
        Row::watch(),
        Row::new("DescribeForPlanner", DESCRIBE, describe, FEW),
    ]
}

/// A call that does nothing for long, in its frame.
pub fn sleep() -> Bytes {
    invoke(("debug_sleep", r#"{"duration":"100s"}"#))
}

/// A call that works for some time, in its frame.
pub fn work(time: Duration) -> Bytes {
    let arguments = format!(r#"{{"duration":"{}s"}}"#, time.as_secs_f64());
    call(("debug_sleep", &arguments), ResultFormat::Json)
}

/// A call whose answer is 64 MB in small events, in its frame. What a tool has in hand while it waits is its own.
pub fn much() -> Bytes {
    invoke(("debug_stream", r#"{"count":6400,"bytes":10000}"#))
}

/// A call of a tool that there is not, in its frame.
pub fn unknown() -> Bytes {
    call(("no_such_tool", "{}"), ResultFormat::Json)
}

/// Asks for the end of a call, in its frame.
pub fn cancel(call_id: String) -> Bytes {
    framed(&CancelCallRequest { call: Some(cancel_call_request::Call::CallId(call_id)) })
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

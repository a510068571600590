//! What the pipeline promises, in process and with time under control.

mod accepted;
mod calls;
mod equal_writes;
mod kept_results;
mod late_records;
mod request_ids;
mod words;

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::time::{advance, sleep, timeout};
use toolwire::{
    base::clock,
    contract::{ErrorCode, Event, Refusal, Terminal, ToolError, ToolResult},
    db::StoreError,
    engine::pipeline::{Call, CallSelector, Step},
    state::idempotency::{Beginning, Begun, Effect, Idempotency, Key},
    tool::context::{CallId, CallTools, Lineage, RequestId, StopCause, ToolContext},
};

use crate::support::{Bench, MemoryIdempotency, arguments};

#[track_caller]
fn result(end: Result<Terminal, Refusal>) -> ToolResult {
    match end.expect("not refused") {
        Terminal::Result(result) => result,
        Terminal::ConfirmationRequired(it) => panic!("awaits {it:?}"),
    }
}

#[track_caller]
fn error(end: Result<Terminal, Refusal>) -> (ErrorCode, String) {
    let error = result(end).outcome.expect_err("an error");
    (error.code, error.message)
}

fn write(request_id: RequestId, value: &str, duration: &str) -> Call {
    let mut call = Bench::call("debug_write", json!({"value": value, "duration": duration}));
    call.request_id = Some(request_id);
    call
}

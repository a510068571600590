//! Open calls of tasks: those that began and have not ended.

use super::entries::EntryMeta;
use crate::{
    engine::{Error, Tx},
    rows::open_calls::{self as rows, OpenCallRow},
    sql::Connection,
    tasks::{
        OpenCall, TaskCall,
        entry::{Text, ToolCall},
    },
};
use toolwire_contract::Provenance;
use toolwire_tool::context::TaskId;

/// Removes an open call. `None` if it was not open, otherwise the entry with which it waited, if it did.
pub(super) async fn remove(tx: &mut Tx, call: &TaskCall) -> Result<Option<Option<u64>>, Error> {
    rows::delete(tx, &call.task, call.key.request_id, &call.key.tool).await
}

/// The open calls of a task. Approved ones come first, since they began first.
pub(super) async fn list(connection: &mut Connection, task: &TaskId) -> Result<Vec<OpenCall>, Error> {
    let mut calls = rows::approved(connection, task).await?;
    calls.extend(rows::begun(connection, task).await?);
    Ok(calls)
}

impl OpenCallRow {
    /// The entry of the call, without an outcome.
    pub(super) fn entry(&self) -> ToolCall {
        ToolCall {
            tool_type: self.tool_type,
            tool: self.tool.clone(),
            tool_call_id: self.tool_call_id.clone(),
            input: Text::Inline(self.input.clone()),
            result: None,
            error: None,
            status: String::new(),
            documents: Vec::new(),
            provenance: Provenance::default(),
            category: self.category,
            waits_for: None,
            untrusted: false,
        }
    }

    pub(super) fn meta(&self) -> EntryMeta {
        EntryMeta {
            step: self.step,
            position: self.position,
            request_id: Some(self.request_id),
            call_id: Some(self.call_id),
            trace_id: self.trace_id.clone(),
            ..EntryMeta::default()
        }
    }
}

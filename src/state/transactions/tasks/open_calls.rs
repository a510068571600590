//! Open calls of tasks: those that began and have not ended.

use super::entries::EntryMeta;
use crate::tasks::{
    OpenCall, TaskCall,
    entry::ToolCall,
    rows::open_calls::{self as rows, OpenCallRow},
};
use toolwire_db::{Error, Tx, sql::Connection};
use toolwire_tool::context::TaskId;

/// Removes an open call. `None` if it was not open, otherwise the entry with which it waited, if it did.
pub(super) async fn remove(tx: &mut Tx, call: &TaskCall) -> Result<Option<Option<u64>>, Error> {
    rows::delete(&call.task, call.key.request_id, &call.key.tool).optional(tx).await
}

/// The open calls of a task. Approved ones come first, since they began first.
pub(super) async fn list(connection: &mut Connection, task: &TaskId) -> Result<Vec<OpenCall>, Error> {
    let mut calls = rows::list_approved(connection, task).await?;
    calls.extend(rows::list_begun(connection, task).await?);
    Ok(calls)
}

impl OpenCallRow {
    /// The entry of the call, without an outcome.
    pub(super) fn entry(&self) -> ToolCall {
        let (id, input) = (self.tool_call_id.clone(), self.input.clone());
        ToolCall { category: self.category, ..ToolCall::new(self.tool_type, self.tool.clone(), id, input) }
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

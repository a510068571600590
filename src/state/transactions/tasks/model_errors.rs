//! Invalid calls of a model: nothing is executed, and the timeline records the error for the model.

use std::time::SystemTime;

use super::{
    admit,
    entries::{EntryMeta, append},
    error::TxError,
    load::load,
};
use crate::{
    Store,
    tasks::{
        Mistake, TaskError,
        entry::{Body, Lengths, ToolCall},
        rows::entries,
    },
};
use toolwire_db::{Durability, Tx, scoped};
use toolwire_tokens as tokens;

impl Store {
    /// Records an invalid call of an agent, and returns the sequence number of its entry. A repeat receives that of the
    /// first attempt.
    pub async fn record_mistake(&self, mistake: &Mistake) -> Result<u64, TaskError> {
        let input = Some(tokens::length(&mistake.input).await.tokens);
        let lengths = Lengths { input, result: None };
        self.transact_tasks(&mistake.user, Durability::Power, |tx| {
            let now = tx.now();
            scoped(record(tx, mistake, lengths, now))
        })
        .await
    }
}

async fn record(tx: &mut Tx, mistake: &Mistake, lengths: Lengths, now: SystemTime) -> Result<u64, TxError> {
    let mut loaded = load(tx, &mistake.user, &mistake.task).await?;
    let known = entries::newest_of_request(&mistake.task, mistake.request_id).optional(tx).await?;
    if let Some(sequence) = known {
        return Ok(sequence);
    }
    admit::in_time(&loaded.task, now)?;
    admit::driver(&loaded.task, mistake.step_ref.lease_token, now)?;
    admit::call(tx, &mut loaded, mistake.step_ref.step).await?;
    let meta = EntryMeta {
        step: mistake.step_ref.step,
        position: mistake.step_ref.position,
        request_id: Some(mistake.request_id),
        call_id: Some(mistake.call_id),
        trace_id: mistake.trace_id.clone(),
        lengths,
    };
    Ok(append(tx, &mut loaded, meta, Body::ToolCall(entry_of(mistake)), now).await?)
}

fn entry_of(mistake: &Mistake) -> ToolCall {
    let (id, input) = (mistake.step_ref.id_or(mistake.call_id), mistake.input.clone());
    ToolCall {
        error: Some(mistake.error.clone()),
        category: mistake.category,
        ..ToolCall::new(mistake.tool_type, mistake.tool.clone(), id, input)
    }
}

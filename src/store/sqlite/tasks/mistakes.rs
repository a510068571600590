//! Calls that an agent got wrong: nothing was begun, and the timeline tells, so that its model is told too.

use std::time::SystemTime;

use super::{
    admit,
    entries::{Of, append},
    fault::Fault,
    rows::{load, number},
};
use crate::{
    sqlite::{Durability, Sqlite},
    tasks::{
        Mistake, TaskError,
        entry::{Body, Lengths, Part, ToolCall},
    },
};
use toolwire_contract::Provenance;
use toolwire_tokens as tokens;

const KNOWN: &str = "SELECT seq FROM entries WHERE task = ? AND request_id = ? ORDER BY seq DESC LIMIT 1";

impl Sqlite {
    pub(super) async fn note_task_mistake(
        &self,
        mistake: &Mistake,
        now: SystemTime,
    ) -> Result<u64, TaskError> {
        let done = self.noted(mistake, now).await;
        self.told_in_time(&mistake.task, now, done).await
    }

    async fn noted(&self, mistake: &Mistake, now: SystemTime) -> Result<u64, Fault> {
        let input = Some(tokens::length(&mistake.input).await.tokens);
        let mut change = self.change(Durability::Power).await?;
        let mut row = load(&mut change, &mistake.user, &mistake.task).await?;
        let known = sqlx::query_scalar(KNOWN).bind(mistake.task.as_str());
        let known: Option<i64> =
            known.bind(mistake.request_id.to_string()).fetch_optional(&mut *change).await?;
        if let Some(sequence) = known {
            return Ok(number(sequence));
        }
        admit::in_time(&row.task, now)?;
        admit::driver(&row.task, mistake.turn.lease_token, now)?;
        admit::call(&mut change, &mut row, mistake.turn.step).await?;
        let of = Of {
            step: mistake.turn.step,
            position: mistake.turn.position,
            request_id: Some(mistake.request_id),
            call_id: Some(mistake.call_id),
            trace_id: mistake.trace_id.clone(),
            lengths: Lengths { input, result: None },
        };
        let sequence = append(&mut change, &mut row, of, Body::ToolCall(entry_of(mistake)), now).await?;
        self.done(change, sequence).await
    }
}

fn entry_of(mistake: &Mistake) -> ToolCall {
    ToolCall {
        tool_type: mistake.tool_type,
        tool: mistake.tool.clone(),
        tool_call_id: mistake.turn.id_or(mistake.call_id),
        input: Part::Whole(mistake.input.clone()),
        result: None,
        error: Some(mistake.error.clone()),
        status: String::new(),
        documents: Vec::new(),
        provenance: Provenance::default(),
        category: mistake.category,
        waits_for: None,
        untrusted: false,
    }
}

//! Recovery after a crash: settles the calls that an ended process left open. Reads wait to be made again; calls
//! without effect lose their record; ended calls get their entry; the outcome of any other write is unknown.

use std::time::SystemTime;

use super::{
    entries::append,
    error::TxError,
    load::{LoadedTask, find},
};
use crate::{
    Store,
    idempotency::{Begun, Key},
    tasks::{
        Recovered, TaskError,
        entry::{Answer, Body, CallType, Text, ToolCall, WaitTarget},
        rows::open_calls::{self as rows, OpenCallRow},
        texts,
    },
    topic::Topic,
    transactions::calls::{self, RecordState},
};
use toolwire_contract::{ErrorCode, payload::StoredPayload};
use toolwire_db::{Durability, Lane, Tx, scoped, time::millis};

/// Maximum number of calls settled by one transaction, so that others run in between.
const AT_ONCE: u32 = 256;

impl Store {
    /// Settles the open calls of ended processes. Runs at start and every few seconds.
    pub async fn recover_tasks(&self) -> Result<Recovered, TaskError> {
        let replicas = self.fetch_all(rows::replicas()).await?;
        let mut recovered = Recovered::default();
        for replica in &self.find_ended(replicas).await? {
            loop {
                let settled = self.transact(Lane::AllUsers, Durability::Power, |tx| {
                    let now = tx.now();
                    scoped(settle_some(tx, replica, now))
                });
                let settled = settled.await?;
                recovered.reads += settled.reads;
                recovered.settled += settled.settled;
                recovered.unknown += settled.unknown;
                if settled.settled + settled.unknown == 0 {
                    break;
                }
            }
            self.forget(replica);
        }
        Ok(recovered)
    }
}

/// Whether the outcome of a call is known.
enum Settled {
    Known,
    Unknown,
}

/// Settles some calls of an ended process.
async fn settle_some(tx: &mut Tx, replica: &str, now: SystemTime) -> Result<Recovered, TxError> {
    // First, so that the loop below finds only writes and calls that do not execute.
    let reads = rows::release_reads(replica).execute(tx).await?;
    let mut recovered =
        Recovered { reads: usize::try_from(reads).unwrap_or_default(), ..Recovered::default() };
    for call in rows::of_replica(replica, AT_ONCE).all(tx).await? {
        rows::delete(&call.task, call.request_id, &call.tool).optional(tx).await?;
        match settle(tx, &call, now).await? {
            Settled::Known => recovered.settled += 1,
            Settled::Unknown => recovered.unknown += 1,
        }
    }
    tx.notify(Topic::Tasks);
    Ok(recovered)
}

async fn settle(tx: &mut Tx, left: &OpenCallRow, now: SystemTime) -> Result<Settled, TxError> {
    let Some(mut loaded) = find(tx, &left.task).await? else { return Ok(Settled::Known) };
    let key = Key { user: loaded.task.user.clone(), tool: left.tool.clone(), request_id: left.request_id };
    let record = calls::find(tx, &key, millis(now)).await?;
    if left.tool_type != CallType::Function {
        // Its effect and its end are one transaction, which was not committed.
        calls::forget(tx, &key, ErrorCode::Unavailable.into_str()).await?;
        return Ok(Settled::Known);
    }
    if loaded.task.state.is_final() {
        return Ok(Settled::Known);
    }
    let mut call = left.entry();
    let state = record.map(|record| record.state);
    let settled = if let Some(RecordState::Ended(Begun::Ended(result))) = state {
        call.provenance = result.provenance;
        match result.outcome.map(text) {
            Ok(result) => call.result = result.map(Text::Inline),
            Err(error) => call.error = Some(error),
        }
        Settled::Known
    } else {
        texts::OUTCOME_UNKNOWN.clone_into(&mut call.status);
        call.waits_for = Some(WaitTarget::Call(left.call_id));
        Settled::Unknown
    };
    append_entry(tx, &mut loaded, left, call, now).await?;
    Ok(settled)
}

async fn append_entry(
    tx: &mut Tx,
    loaded: &mut LoadedTask,
    left: &OpenCallRow,
    call: ToolCall,
    now: SystemTime,
) -> Result<(), TxError> {
    let body = match (left.answers, &call.waits_for) {
        (Some(answers), None) => Body::Answer(Answer {
            answers,
            result: call.result,
            error: call.error,
            origin: left.call_id.to_string(),
            provenance: call.provenance,
            ..Answer::default()
        }),
        _ => Body::ToolCall(call),
    };
    append(tx, loaded, left.meta(), body, now).await?;
    Ok(())
}

/// The text of a result, where it is stored as text.
fn text(stored: StoredPayload) -> Option<String> {
    stored.read(None).ok().map(|payload| payload.json_text().to_owned())
}

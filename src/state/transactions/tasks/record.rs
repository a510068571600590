//! Records of calls that do not execute.

use std::time::SystemTime;

use super::error::TxError;
use crate::{
    idempotency::{ArgumentsDigest, Beginning, Begun, Key, Quota},
    tasks::{Action, LoopControl, Refused},
    transactions::calls::{self, CallRecord, Opening, RecordState},
};
use toolwire_contract::{Payload, Provenance, ToolResult, payload::StoredPayload};
use toolwire_db::{Error, Tx, time::millis};

/// The response to a call after which its agent continues.
pub(super) const CONTINUE: Action = Action {
    action: LoopControl::Continue,
    status: String::new(),
    task_id: None,
    sequence: None,
    logged: false,
};

/// The response of a call that ended. `None` if the call began but did not end: then it had no effect, since effect and
/// end are one transaction.
pub(super) fn response_of(
    record: CallRecord,
    digest: ArgumentsDigest,
    key: &Key,
) -> Result<Option<Action>, TxError> {
    if !record.is_of(digest) {
        return Err(Refused::RequestIdReused(key.request_id).into());
    }
    let RecordState::Ended(Begun::Ended(result)) = record.state else { return Ok(None) };
    let payload = result.outcome.map(|data: StoredPayload| data.read(None));
    let action = match &payload {
        Ok(Ok(payload)) => Action::from_json(payload.json()),
        _ => None,
    };
    Ok(Some(action.ok_or_else(|| Error::unreadable("outcome", "it does not say what was done"))?))
}

/// Records the response of a call, which ends it.
pub(super) async fn record(
    tx: &mut Tx,
    call: &Beginning<'_>,
    action: &Action,
    has_record: bool,
    quota: Quota,
    now: SystemTime,
) -> Result<(), TxError> {
    if !has_record {
        match calls::add(tx, call, Opening::Started(None), millis(now), quota).await? {
            None => {}
            Some(Begun::Full { until, bound }) => return Err(Refused::Full { until, bound }.into()),
            Some(_) => return Err(Error::unreadable("call", "it has a record, and had none before").into()),
        }
    }
    let result = ToolResult {
        tool: call.key.tool.clone(),
        fetched_at: now,
        outcome: Ok(Payload::from_json(action.to_json())),
        provenance: Provenance::default(),
        kept: None,
    };
    Ok(calls::end(tx, call.key, &result).await?)
}

//! Records of calls with a `request_id`, as steps of the transactions of idempotency, confirmations and tasks. The
//! audit records beginnings and ends too.

mod owner;
mod quota;
mod read;

use std::time::SystemTime;

use super::audit::{self, Approval};
use crate::{
    calls::rows::{self, Record, State},
    idempotency::{ArgumentsDigest, Beginning, Begun, Effect, Key, Quota},
    outcome::OutcomeColumns,
};
use toolwire_base::digest::Digest;
use toolwire_contract::{ConfirmationId, Provenance, ToolError, ToolResult, payload::StoredPayload};
use toolwire_db::{Error, Tx, time::instant};

/// The code of a call that returned data.
pub(super) const OK: &str = "OK";

/// The code of an attempt that waits for a person.
const SUSPENDED: &str = "CONFIRMATION_REQUIRED";

/// The record of an earlier attempt of a call.
pub(super) struct CallRecord {
    pub(super) begun: SystemTime,
    pub(super) state: RecordState,
    digest: Digest,
}

/// The state of a recorded call.
pub(super) enum RecordState {
    /// It waits for a person, with its own confirmation, if it is not waiting for that of a nested call.
    Asked(Option<String>),
    Started,
    Ended(Begun),
}

/// The state of a new record.
#[derive(Clone, Copy)]
pub(super) enum Opening<'a> {
    /// It begins, by this approval if one was required.
    Started(Option<Approval<'a>>),
    /// It waits for this confirmation.
    Asked(&'a ConfirmationId),
}

impl CallRecord {
    pub(super) fn is_of(&self, digest: ArgumentsDigest) -> bool {
        self.digest == digest
    }

    /// The response to a repeat of the call; `None` if the call waits for a person.
    pub(super) fn response(self, digest: ArgumentsDigest) -> Option<Begun> {
        match self.state {
            _ if !self.is_of(digest) => Some(Begun::Conflict),
            RecordState::Ended(response) => Some(response),
            RecordState::Started => Some(Begun::Unfinished { begun: self.begun }),
            RecordState::Asked(_) => None,
        }
    }

    fn of(record: Record, key: &Key) -> Self {
        let (begun, digest) = (record.begun_at, record.digest);
        let state = match (record.state, record.kept.is_some()) {
            // A call whose outcome can no longer be read counts as unfinished, so that it is not executed twice.
            (_, true) => outcome(record, key)
                .map_or(RecordState::Started, |result| RecordState::Ended(Begun::Ended(Box::new(result)))),
            (State::Asked, false) => RecordState::Asked(record.confirmation_id),
            (State::Started, false) => RecordState::Started,
        };
        Self { begun, state, digest }
    }
}

/// The outcome of a call, if there is one that can be deserialised.
fn outcome(record: Record, key: &Key) -> Option<ToolResult<StoredPayload>> {
    let fetched_at = record.fetched_at.unwrap_or(SystemTime::UNIX_EPOCH);
    let columns = OutcomeColumns { description: record.kept?, data: record.data.unwrap_or_default() };
    match columns.outcome() {
        Ok((outcome, provenance)) => {
            Some(ToolResult { tool: key.tool.clone(), fetched_at, outcome, provenance, kept: None })
        }
        Err(error) => {
            tracing::warn!(%error, tool_name = %key.tool, "the outcome of an earlier call is lost");
            None
        }
    }
}

/// Finds the record of a call, unless it has expired.
pub(super) async fn find(tx: &mut Tx, key: &Key, now: i64) -> Result<Option<CallRecord>, Error> {
    // Each call deletes a few expired records, so that they do not accumulate.
    rows::delete_expired(tx, instant(now)).await?;
    let Some(record) = rows::find(key).optional(tx).await? else { return Ok(None) };
    if record.expires_at > instant(now) {
        return Ok(Some(CallRecord::of(record, key)));
    }
    rows::delete(tx, key).await?;
    Ok(None)
}

/// Adds a record, unless the quota is exhausted; then it returns that as the response.
pub(super) async fn add(
    tx: &mut Tx,
    call: &Beginning<'_>,
    opening: Opening<'_>,
    now: i64,
    quota: Quota,
) -> Result<Option<Begun>, Error> {
    if let Some(full) = quota::free(tx, &call.key.user, instant(now), quota).await? {
        return Ok(Some(full));
    }
    let columns = match opening {
        Opening::Started(approval) => {
            // First, since the row of the call references the audit record.
            let audit = record_audit(tx, call, approval, now).await?;
            (State::Started, approval.map(|it| it.confirmation), audit)
        }
        Opening::Asked(id) => (State::Asked, Some(id), None),
    };
    let replica = tx.replica().to_owned();
    rows::insert(tx, call, columns, &replica, instant(now)).await?;
    Ok(None)
}

/// Begins a call that waited, and returns whether it did wait.
pub(super) async fn start(
    tx: &mut Tx,
    call: &Beginning<'_>,
    approval: Option<Approval<'_>>,
    now: i64,
) -> Result<bool, Error> {
    let replica = tx.replica().to_owned();
    if rows::start(call, &replica, instant(now)).execute(tx).await? == 0 {
        return Ok(false);
    }
    // Only now: for a call that did not wait, the caller adds a record, which has an audit record of its own.
    let audit = record_audit(tx, call, approval, now).await?;
    rows::set_audit(call.key, audit).run(tx).await?;
    Ok(true)
}

/// Adds an audit record of the beginning of a call, if it is a write or a person approved it.
async fn record_audit(
    tx: &mut Tx,
    call: &Beginning<'_>,
    approval: Option<Approval<'_>>,
    now: i64,
) -> Result<Option<i64>, Error> {
    if call.effect == Effect::Read && approval.is_none() {
        return Ok(None);
    }
    audit::record_beginning(tx, call, approval, now).await.map(Some)
}

/// Suspends a call that has begun.
pub(super) async fn suspend(tx: &mut Tx, key: &Key) -> Result<(), Error> {
    audit::send_end(tx, key, SUSPENDED).await?;
    let suspend = rows::suspend(key, SUSPENDED, tx.now());
    suspend.run(tx).await
}

/// Records the end of a call.
pub(super) async fn end(tx: &mut Tx, key: &Key, result: &ToolResult) -> Result<(), Error> {
    end_with(tx, key, result, &OutcomeColumns::of(&result.outcome, &result.provenance)).await
}

/// Records the end of a call with the given columns of its result.
pub(super) async fn end_with(
    tx: &mut Tx,
    key: &Key,
    result: &ToolResult,
    outcome: &OutcomeColumns,
) -> Result<(), Error> {
    tx.adds(outcome.len());
    let code = result.outcome.as_ref().map_or_else(|error| error.code.into_str(), |_| OK);
    audit::send_end(tx, key, code).await?;
    let now = tx.now();
    rows::end(tx, key, (outcome, code), result.fetched_at, now).await
}

/// Records the end of a call whose confirmation was not given.
pub(super) async fn turn_down(
    tx: &mut Tx,
    key: &Key,
    id: &ConfirmationId,
    error: ToolError,
    now: i64,
) -> Result<(), Error> {
    let code = error.code.into_str();
    let outcome = OutcomeColumns::of(&Err(error), &Provenance::default());
    rows::turn_down(tx, key, id, (&outcome, code), instant(now)).await
}

/// Deletes the record of a call. `code` is how it ended.
pub(super) async fn forget(tx: &mut Tx, key: &Key, code: &str) -> Result<(), Error> {
    // First, since the audit record is found by the row of the call.
    audit::send_end(tx, key, code).await?;
    let complete = rows::complete_audit(key, code, tx.now());
    complete.run(tx).await?;
    rows::delete(tx, key).await
}

//! Records of calls with a `request_id`, as steps of the transactions of idempotency, confirmations and tasks. The
//! audit records beginnings and ends too.

mod look;
mod owner;
mod quota;

use std::time::SystemTime;

use self::quota::full;
use super::{
    Error, Tx,
    audit::{self, Approval},
    time::instant,
};
use crate::{
    idempotency::{ArgumentsDigest, Beginning, Begun, Effect, Key, Quota},
    rows::{
        calls::{self as rows, Record, State},
        outcome::OutcomeColumns,
    },
};
use toolwire_base::{clock, digest::Digest};
use toolwire_contract::{ConfirmationId, Provenance, ToolError, ToolResult, payload::StoredPayload};

/// The code of a call that returned data.
pub(super) const OK: &str = "OK";

/// The code of an attempt that waits for a person.
const SUSPENDED: &str = "CONFIRMATION_REQUIRED";

pub(super) struct Recorded {
    pub(super) begun: SystemTime,
    pub(super) standing: Standing,
    digest: Digest,
}

/// The state of a recorded call.
pub(super) enum Standing {
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

impl Recorded {
    pub(super) fn is_of(&self, digest: ArgumentsDigest) -> bool {
        self.digest == digest
    }

    fn of(record: Record, key: &Key) -> Self {
        let (begun, digest) = (record.begun_at, record.digest);
        let standing = match (record.state, record.kept.is_some()) {
            // An outcome that cannot be read any more counts as unfinished: nothing is carried out twice.
            (_, true) => outcome(record, key)
                .map_or(Standing::Started, |result| Standing::Ended(Begun::Ended(Box::new(result)))),
            (State::Asked, false) => Standing::Asked(record.confirmation_id),
            (State::Started, false) => Standing::Started,
        };
        Self { begun, standing, digest }
    }
}

/// The outcome of a call, if there is one that can be deserialised.
fn outcome(record: Record, key: &Key) -> Option<ToolResult<StoredPayload>> {
    let fetched_at = record.fetched_at.unwrap_or(SystemTime::UNIX_EPOCH);
    let columns = OutcomeColumns { description: record.kept?, data: record.data.unwrap_or_default() };
    match columns.outcome() {
        Ok((outcome, provenance)) => {
            Some(ToolResult { tool: key.tool.clone(), fetched_at, outcome, provenance })
        }
        Err(error) => {
            tracing::warn!(%error, tool_name = %key.tool, "the outcome of an earlier call is lost");
            None
        }
    }
}

/// Finds the record of a call, unless it has expired.
pub(super) async fn find(change: &mut Tx, key: &Key, now: i64) -> Result<Option<Recorded>, Error> {
    // Each call takes a few of the expired away, so that they never pile up.
    rows::delete_expired(change, instant(now)).await?;
    let Some(record) = rows::find(change, key).await? else { return Ok(None) };
    if record.expires_at > instant(now) {
        return Ok(Some(Recorded::of(record, key)));
    }
    forget(change, key).await?;
    Ok(None)
}

/// Adds a record, unless the quota is exhausted.
pub(super) async fn add(
    change: &mut Tx,
    call: &Beginning<'_>,
    opening: Opening<'_>,
    now: i64,
    quota: Quota,
) -> Result<Option<Begun>, Error> {
    if let Some(full) = full(change, &call.key.user, instant(now), quota).await? {
        return Ok(Some(full));
    }
    let opened = match opening {
        Opening::Started(approval) => {
            // First, since the row names the record.
            let audit = audited(change, call, approval, now).await?;
            (State::Started, approval.map(|it| it.confirmation), audit)
        }
        Opening::Asked(id) => (State::Asked, Some(id), None),
    };
    let replica = change.replica().to_owned();
    rows::insert(change, call, opened, &replica, instant(now)).await?;
    Ok(None)
}

/// Lets a call wait for another confirmation.
pub(super) async fn ask(change: &mut Tx, key: &Key, id: &ConfirmationId) -> Result<(), Error> {
    rows::ask(change, key, id).await
}

/// Begins a call that waited, and returns whether it did wait.
pub(super) async fn start(
    change: &mut Tx,
    call: &Beginning<'_>,
    approval: Option<Approval<'_>>,
    now: i64,
) -> Result<bool, Error> {
    let replica = change.replica().to_owned();
    if !rows::start(change, call, &replica, instant(now)).await? {
        return Ok(false);
    }
    // Only now: a call that did not wait must not be noted twice.
    let audit = audited(change, call, approval, now).await?;
    rows::set_audit(change, call.key, audit).await?;
    Ok(true)
}

/// Records in the audit that a call begins: a write, or a call that a person approved.
async fn audited(
    change: &mut Tx,
    call: &Beginning<'_>,
    approval: Option<Approval<'_>>,
    now: i64,
) -> Result<Option<i64>, Error> {
    if call.effect == Effect::Read && approval.is_none() {
        return Ok(None);
    }
    audit::begun(change, call, approval, now).await.map(Some)
}

/// Suspends a call that has begun.
pub(super) async fn suspend(change: &mut Tx, key: &Key) -> Result<(), Error> {
    rows::suspend(change, key, SUSPENDED, clock::wall()).await
}

/// Records the end of a call.
pub(super) async fn end(change: &mut Tx, key: &Key, result: &ToolResult) -> Result<(), Error> {
    let outcome = OutcomeColumns::of(&result.outcome, &result.provenance);
    change.adds(outcome.len());
    let code = result.outcome.as_ref().map_or_else(|error| error.code.into_str(), |_| OK);
    rows::end(change, key, (&outcome, code), result.fetched_at, clock::wall()).await
}

/// Records the end of a call whose confirmation was not given.
pub(super) async fn turn_down(
    change: &mut Tx,
    key: &Key,
    id: &ConfirmationId,
    error: ToolError,
    now: i64,
) -> Result<(), Error> {
    let code = error.code.into_str();
    let outcome = OutcomeColumns::of(&Err(error), &Provenance::default());
    rows::turn_down(change, key, id, (&outcome, code), instant(now)).await
}

/// Records in the audit how a call ended whose record is deleted next.
pub(super) async fn note_end(change: &mut Tx, key: &Key, code: &str) -> Result<(), Error> {
    rows::complete_audit(change, key, code, clock::wall()).await
}

pub(super) async fn forget(change: &mut Tx, key: &Key) -> Result<(), Error> {
    rows::delete(change, key).await
}

//! Persistent idempotency records.

use std::time::SystemTime;

use futures_util::future::BoxFuture;

use super::calls::{self, Opening, RecordState};
use crate::{
    Store,
    cancellations::Subject,
    idempotency::{Beginning, Begun, Effect, Idempotency, Key, Owner, Quota, RemoteEnd},
    large_reads::LargeReads,
    outcome::OutcomeColumns,
};
use toolwire_contract::{
    ToolResult,
    payload::{Encoded, EncodedForm, StoredPayload},
};
use toolwire_db::{Durability, Error, Lane, StoreError, Tx, scoped, time::millis};
use toolwire_tool::context::{CallId, UserId};

impl Idempotency for Store {
    fn begin<'a>(&'a self, call: Beginning<'a>) -> BoxFuture<'a, Begun> {
        Box::pin(async move {
            match self.begin_call(&call).await {
                Ok(begun) => begun,
                Err(error) => self.begun_before(call.key, call.digest, error).await,
            }
        })
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            // Before the transaction, which all others wait for: the text of a large result takes long.
            let outcome = OutcomeColumns::of(&result.outcome, &result.provenance);
            self.end_call(key, result, &outcome, durability(Effect::Write)).await
        })
    }

    fn end_read<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let outcome = match (self.large_reads(), &result.outcome) {
                (Some(files), Ok(data)) if files.keep(key, data, self.now()).await => {
                    OutcomeColumns::without_data(&result.provenance)
                }
                _ => OutcomeColumns::of(&result.outcome, &result.provenance),
            };
            self.end_call(key, result, &outcome, durability(Effect::Read)).await
        })
    }

    fn suspend<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        // If it is lost, the call seems unfinished, and is not executed twice.
        Box::pin(
            self.record(Lane::User(&key.user), Durability::Process, move |tx| {
                scoped(calls::suspend(tx, key))
            }),
        )
    }

    fn forget<'a>(&'a self, key: &'a Key, code: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        // As in `suspend`.
        Box::pin(self.record(Lane::User(&key.user), Durability::Process, move |tx| {
            scoped(calls::forget(tx, key, code))
        }))
    }

    fn owner<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Owner, StoreError>> {
        Box::pin(async move { self.explain(self.owner_of_call(key).await) })
    }

    fn wait_for_remote_end<'a>(&'a self, key: &'a Key, call_id: CallId) -> BoxFuture<'a, RemoteEnd> {
        Box::pin(self.end_of_remote_call(key, call_id))
    }

    fn now(&self) -> SystemTime {
        self.database.now()
    }

    fn cancel_owner<'a>(
        &'a self,
        user: &'a UserId,
        call_id: CallId,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.request_cancel(user, &Subject::Call(call_id)).await })
    }
}

impl Store {
    async fn begin_call(&self, call: &Beginning<'_>) -> Result<Begun, StoreError> {
        // Before the record: from then on other processes check whether this one is alive.
        self.own_name().await?;
        let begun = self
            .transact(Lane::User(&call.key.user), durability(call.effect), |tx| {
                scoped(begin(tx, call, self.calls_quota))
            })
            .await?;
        Ok(match begun {
            Begun::Ended(result) => Begun::Ended(Box::new(self.with_data(call.key, *result).await)),
            begun => begun,
        })
    }

    /// Adds the data of a large read to its outcome, if it is still there. Without it the outcome cannot be decoded.
    pub(super) async fn with_data(
        &self,
        key: &Key,
        mut result: ToolResult<StoredPayload>,
    ) -> ToolResult<StoredPayload> {
        if let Ok(StoredPayload::Encoded(Encoded { form: EncodedForm::Json, bytes })) = &result.outcome
            && bytes.is_empty()
            && let Some(files) = self.large_reads()
            && let Some(data) = files.read(key).await
        {
            result.outcome = Ok(StoredPayload::Live(data));
        }
        result
    }

    async fn end_call(
        &self,
        key: &Key,
        result: &ToolResult,
        outcome: &OutcomeColumns,
        durability: Durability,
    ) -> Result<(), StoreError> {
        self.record(Lane::User(&key.user), durability, move |tx| {
            scoped(calls::end_with(tx, key, result, outcome))
        })
        .await
    }

    fn large_reads(&self) -> Option<LargeReads> {
        self.directory().map(LargeReads::in_directory)
    }
}

/// A write must not be without its record after a loss of power, nor a repeat without the outcome that its caller
/// received. A read is made again.
fn durability(effect: Effect) -> Durability {
    match effect {
        Effect::Read => Durability::Process,
        Effect::Write => Durability::Power,
    }
}

/// Begins a call: returns the response of its record, or records the beginning if there is none and the quota allows
/// it. Expired records are deleted in either case.
async fn begin(tx: &mut Tx, call: &Beginning<'_>, quota: Quota) -> Result<Begun, Error> {
    let now = millis(tx.now());
    let Some(record) = calls::find(tx, call.key, now).await? else {
        let full = calls::add(tx, call, Opening::Started(None), now, quota).await?;
        return Ok(full.unwrap_or(Begun::New));
    };
    Ok(match record.state {
        _ if !record.is_of(call.digest) => Begun::Conflict,
        RecordState::Ended(ended) => ended,
        RecordState::Started => Begun::Unfinished { begun: record.begun },
        RecordState::Asked(Some(_)) => Begun::Asked,
        // It waited for the confirmation of a nested call, and begins again.
        RecordState::Asked(None) => {
            calls::start(tx, call, None, now).await?;
            Begun::New
        }
    })
}

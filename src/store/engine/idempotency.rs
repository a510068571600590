//! Persistent idempotency records.

use std::time::SystemTime;

use futures_util::future::BoxFuture;

use super::{
    Durability, Error, Store, Tx,
    calls::{self, Opening, RecordState},
    time::millis,
};
use crate::{
    Lane, StoreError,
    cancellations::Subject,
    idempotency::{Beginning, Begun, Idempotency, Key, Owner, Quota, RemoteEnd},
    scoped,
};
use toolwire_contract::ToolResult;
use toolwire_tool::context::{CallId, UserId};

impl Idempotency for Store {
    fn begin<'a>(&'a self, call: Beginning<'a>, now: SystemTime) -> BoxFuture<'a, Begun> {
        Box::pin(async move { self.begin_call(&call, millis(now)).await.unwrap_or_else(Begun::Unavailable) })
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        // The caller receives this outcome next, so a repeat must receive it even after a loss of power.
        Box::pin(self.transact(Lane::User(&key.user), Durability::Power, move |tx| {
            scoped(calls::end(tx, key, result))
        }))
    }

    fn suspend<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        // If it is lost, the call seems unfinished, and is not executed twice.
        Box::pin(
            self.transact(Lane::User(&key.user), Durability::Process, move |tx| {
                scoped(calls::suspend(tx, key))
            }),
        )
    }

    fn forget<'a>(&'a self, key: &'a Key, code: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        // As in `suspend`.
        Box::pin(self.transact(Lane::User(&key.user), Durability::Process, move |tx| {
            scoped(calls::forget(tx, key, code))
        }))
    }

    fn owner<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Owner, StoreError>> {
        Box::pin(async move { self.explain(self.owner_of_call(key).await) })
    }

    fn wait_for_remote_end<'a>(&'a self, key: &'a Key, call_id: CallId) -> BoxFuture<'a, RemoteEnd> {
        Box::pin(self.end_of_remote_call(key, call_id))
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
    async fn begin_call(&self, call: &Beginning<'_>, now: i64) -> Result<Begun, StoreError> {
        // Before the record: from then on other processes check whether this one is alive.
        self.replica.id(&self.location)?;
        // The effect comes after this, and must not be without its record after a loss of power.
        self.transact(Lane::User(&call.key.user), Durability::Power, |tx| {
            scoped(begin(tx, call, now, self.calls_quota))
        })
        .await
    }
}

/// Begins a call: returns the response of its record, or records the beginning if there is none and the quota allows
/// it. Expired records are deleted in either case.
async fn begin(tx: &mut Tx, call: &Beginning<'_>, now: i64, quota: Quota) -> Result<Begun, Error> {
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

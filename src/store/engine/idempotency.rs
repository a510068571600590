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
    idempotency::{Beginning, Begun, EndElsewhere, Idempotency, Key, Owner, Quota},
    scoped,
};
use toolwire_contract::ToolResult;
use toolwire_tool::context::{CallId, UserId};

impl Idempotency for Store {
    fn begin<'a>(&'a self, call: Beginning<'a>, now: SystemTime) -> BoxFuture<'a, Begun> {
        Box::pin(async move { self.begin_call(&call, millis(now)).await.unwrap_or_else(Begun::Unavailable) })
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        // The caller receives this outcome next, and a repeat must receive it again.
        Box::pin(self.transact(Lane::User(&key.user), Durability::Power, move |tx| {
            scoped(calls::end(tx, key, result))
        }))
    }

    fn suspend<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        // Lost, it leaves a call that seems unfinished: nothing is carried out twice.
        Box::pin(
            self.transact(Lane::User(&key.user), Durability::Process, move |tx| {
                scoped(calls::suspend(tx, key))
            }),
        )
    }

    fn forget<'a>(&'a self, key: &'a Key, code: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        // Lost, it leaves a call that seems unfinished: nothing is carried out twice.
        Box::pin(self.transact(Lane::User(&key.user), Durability::Process, move |tx| {
            scoped(calls::forget(tx, key, code))
        }))
    }

    fn owner<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Owner, StoreError>> {
        Box::pin(async move { self.explain(self.owner_of_call(key).await) })
    }

    fn ended_elsewhere<'a>(&'a self, key: &'a Key, call_id: CallId) -> BoxFuture<'a, EndElsewhere> {
        Box::pin(self.end_of_call_elsewhere(key, call_id))
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
        // Before the record: from then on other processes look for this one.
        self.replica.id(&self.location)?;
        // The effect comes after this: no loss of power may leave it without its record.
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
    Ok(match record.standing {
        _ if !record.is_of(call.digest) => Begun::Conflict,
        RecordState::Ended(ended) => ended,
        RecordState::Started => Begun::Unfinished { begun: record.begun },
        RecordState::Asked(Some(_)) => Begun::Asked,
        // It waited for a person who had to approve a call of its own.
        RecordState::Asked(None) => {
            calls::start(tx, call, None, now).await?;
            Begun::New
        }
    })
}

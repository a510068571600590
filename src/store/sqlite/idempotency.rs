//! Idempotency records that outlive the process.

use std::time::SystemTime;

use futures_util::future::BoxFuture;

use super::{
    Change, Durability, Failed, Sqlite,
    calls::{self, Opening, Standing},
    time::millis,
};
use crate::{
    StoreError,
    cancellations::{Cancellations, Subject},
    idempotency::{Beginning, Begun, EndElsewhere, Idempotency, Key, Owner},
};
use toolwire_contract::ToolResult;
use toolwire_tool::context::{CallId, UserId};

impl Idempotency for Sqlite {
    fn begin<'a>(&'a self, call: Beginning<'a>, now: SystemTime) -> BoxFuture<'a, Begun> {
        Box::pin(
            async move { self.explain(self.begin_call(&call, now).await).unwrap_or_else(Begun::Unavailable) },
        )
    }

    fn end<'a>(&'a self, key: &'a Key, result: &'a ToolResult) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.end_call(key, result).await) })
    }

    fn suspend<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.suspend_call(key).await) })
    }

    fn forget<'a>(&'a self, key: &'a Key, code: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.forget_call(key, code).await) })
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

impl Sqlite {
    async fn begin_call(&self, call: &Beginning<'_>, now: SystemTime) -> Result<Begun, Failed> {
        // Others see from now on that whoever carries it out is there.
        self.replica.id(&self.place)?;
        let now = millis(now);
        // The effect comes after this: no loss of power may leave it without its record.
        let mut change = self.change(Durability::Power).await?;
        let Some(record) = calls::find(&mut change, call.key, now).await? else {
            let full = calls::add(&mut change, call, Opening::Started(None), now, self.room).await?;
            // What has expired is gone all the same.
            change.commit().await?;
            return Ok(full.unwrap_or(Begun::New));
        };
        let begun = match record.standing {
            _ if !record.is_of(call.digest) => Begun::Conflict,
            Standing::Ended(ended) => ended,
            Standing::Started => Begun::Unfinished { begun: record.begun },
            Standing::Asked(Some(_)) => Begun::Asked,
            Standing::Asked(None) => return begin_again(change, call, now).await,
        };
        // What was found may be part of the same commit.
        change.commit().await?;
        Ok(begun)
    }

    async fn end_call(&self, key: &Key, result: &ToolResult) -> Result<(), Failed> {
        // The caller is told this outcome next, and must be told it again whenever it asks.
        let mut change = self.change(Durability::Power).await?;
        calls::end(&mut change, key, result).await?;
        change.commit().await
    }

    async fn suspend_call(&self, key: &Key) -> Result<(), Failed> {
        // Lost, it leaves a call that seems unfinished: nothing is carried out twice.
        let mut change = self.change(Durability::Process).await?;
        calls::suspend(&mut change, key).await?;
        change.commit().await
    }

    async fn forget_call(&self, key: &Key, code: &str) -> Result<(), Failed> {
        // Lost, it leaves a call that seems unfinished: nothing is carried out twice.
        let mut change = self.change(Durability::Process).await?;
        calls::note_end(&mut change, key, code).await?;
        calls::forget(&mut change, key).await?;
        change.commit().await
    }
}

/// Begins a call that waited for a person who had to approve a call of its own.
async fn begin_again(mut change: Change, call: &Beginning<'_>, now: i64) -> Result<Begun, Failed> {
    calls::start(&mut change, call, None, now).await?;
    change.commit().await?;
    Ok(Begun::New)
}

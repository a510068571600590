//! Queries of recorded calls.

use std::collections::HashMap;

use super::CallRecord;
use crate::{
    Store,
    calls::{
        CallState, Criteria, RecordSelector, RecordedCall,
        rows::{self, State},
    },
    idempotency::{ArgumentsDigest, Begun, Key, KnownCall},
};
use toolwire_contract::{ConfirmationId, ToolResult, payload::StoredPayload};
use toolwire_db::StoreError;
use toolwire_tool::context::CallId;

impl Store {
    /// The selected calls that are still recorded, the newest first, at most 16.
    pub async fn find_calls(&self, selector: RecordSelector<'_>) -> Result<Vec<RecordedCall>, StoreError> {
        let listed = self.fetch_all(rows::list_selected(selector, self.now())).await?;
        self.with_owners(listed).await
    }

    /// The outcome of a call, if it has ended and is still recorded.
    pub async fn call_outcome(&self, key: &Key) -> Result<Option<ToolResult<StoredPayload>>, StoreError> {
        let record = self.fetch_optional(rows::find(key)).await?;
        match record.and_then(|record| super::outcome(record, key)) {
            Some(result) => Ok(Some(self.with_data(key, result).await)),
            None => Ok(None),
        }
    }

    /// How far a call has come. `None` if nothing is recorded of it.
    pub async fn known_call(&self, key: &Key) -> Result<Option<KnownCall>, StoreError> {
        let record = self.fetch_optional(rows::find(key)).await?;
        let record = record.filter(|record| record.expires_at > self.now());
        Ok(record.map(|record| match (record.state, record.kept) {
            (_, Some(_)) => KnownCall::Ended,
            (State::Asked, None) => KnownCall::Asked,
            (State::Started, None) => KnownCall::Begun,
        }))
    }

    /// The response to a call that could not begin because of this error. Where a full disk refuses writes alone, it is
    /// that of the record of an earlier attempt, whose caller may have received the outcome.
    pub(in crate::transactions) async fn begun_before(
        &self,
        key: &Key,
        digest: ArgumentsDigest,
        error: StoreError,
    ) -> Begun {
        if !error.leaves_reads() {
            return Begun::Unavailable(error);
        }
        let record = self.fetch_optional(rows::find(key)).await.ok().flatten();
        match record.and_then(|record| CallRecord::of(record, key).response(digest)) {
            Some(Begun::Ended(result)) => Begun::Ended(Box::new(self.with_data(key, *result).await)),
            Some(begun) => begun,
            None => Begun::Unavailable(error),
        }
    }

    /// Calls before one of this id, the newest first.
    pub async fn list_calls(
        &self,
        criteria: &Criteria,
        before: Option<CallId>,
        limit: u32,
    ) -> Result<Vec<RecordedCall>, StoreError> {
        let list = rows::list(criteria, before, limit, self.now());
        self.with_owners(self.fetch_for(criteria.user.as_ref(), list).await?).await
    }

    /// The calls that other processes have begun: those after an id, at most `limit`, and those of these ids.
    pub async fn list_calls_of_others(
        &self,
        after: CallId,
        ids: &[CallId],
        limit: u32,
    ) -> Result<Vec<RecordedCall>, StoreError> {
        let own = self.current_name().await?;
        let mut listed = self.fetch_all(rows::list_of_others(&own, after, limit, self.now())).await?;
        if !ids.is_empty() {
            listed.extend(self.fetch_all(rows::list_of_ids(ids, self.now())).await?);
        }
        self.with_owners(listed).await
    }

    /// The pending confirmation of a nested call, for which the call waits.
    pub async fn pending_part(&self, key: &Key) -> Result<Option<ConfirmationId>, StoreError> {
        self.fetch_optional(rows::pending_part(key)).await
    }

    /// Determines for unfinished calls whether the owner has ended; each owner is checked once.
    async fn with_owners(&self, mut calls: Vec<RecordedCall>) -> Result<Vec<RecordedCall>, StoreError> {
        let mut gone = HashMap::<String, bool>::new();
        for call in &mut calls {
            if let (CallState::Started, Some(replica)) = (&call.standing, &call.replica) {
                call.is_left = if let Some(is_gone) = gone.get(replica) {
                    *is_gone
                } else {
                    let is_gone = self.is_gone(replica).await?;
                    gone.insert(replica.clone(), is_gone);
                    is_gone
                };
            }
        }
        Ok(calls)
    }
}

//! Queries of recorded calls.

use std::{collections::HashMap, time::SystemTime};

use crate::{
    StoreError,
    calls::{CallState, Criteria, RecordSelector, RecordedCall},
    engine::Store,
    idempotency::Key,
    rows::calls::{self as rows, Listed},
};
use toolwire_contract::{ConfirmationId, ToolResult, payload::StoredPayload};
use toolwire_tool::context::CallId;

impl Store {
    /// The selected calls that are still recorded, the newest first, at most 16.
    pub async fn find_calls(
        &self,
        selector: RecordSelector<'_>,
        now: SystemTime,
    ) -> Result<Vec<RecordedCall>, StoreError> {
        let listed = self.fetch_all(rows::list_selected(selector, now)).await?;
        Ok(self.with_owners(listed))
    }

    /// The outcome of a call, if it has ended and is still recorded.
    pub async fn call_outcome(&self, key: &Key) -> Result<Option<ToolResult<StoredPayload>>, StoreError> {
        let record = self.fetch_optional(rows::find(key)).await?;
        match record.and_then(|record| super::outcome(record, key)) {
            Some(result) => Ok(Some(self.with_data(key, result).await)),
            None => Ok(None),
        }
    }

    /// Calls before one of this id, the newest first.
    pub async fn list_calls(
        &self,
        criteria: &Criteria,
        before: Option<CallId>,
        limit: u32,
        now: SystemTime,
    ) -> Result<Vec<RecordedCall>, StoreError> {
        let list = rows::list(criteria, before, limit, now);
        Ok(self.with_owners(self.fetch_for(criteria.user.as_ref(), list).await?))
    }

    /// The pending confirmation of a nested call, for which the call waits.
    pub async fn pending_part(&self, key: &Key) -> Result<Option<ConfirmationId>, StoreError> {
        self.fetch_optional(rows::pending_part(key)).await
    }

    /// Determines for unfinished calls whether the owner has ended; each owner is checked once.
    fn with_owners(&self, listed: Vec<Listed>) -> Vec<RecordedCall> {
        let mut gone = HashMap::<String, bool>::new();
        let mut is_gone = |replica: String| {
            *gone.entry(replica).or_insert_with_key(|replica| self.replica.is_gone(&self.location, replica))
        };
        let mut with_owner = |Listed { mut call, replica }: Listed| {
            call.is_left = call.standing == CallState::Started && replica.is_some_and(&mut is_gone);
            call
        };
        listed.into_iter().map(&mut with_owner).collect()
    }
}

//! Queries of recorded calls.

use std::{collections::HashMap, time::SystemTime};

use crate::{
    StoreError,
    calls::{Criteria, Named, RecordedCall, Standing},
    engine::{Error, Store},
    idempotency::Key,
    rows::calls::{self as rows, Listed},
};
use toolwire_contract::{ConfirmationId, ToolResult, payload::StoredPayload};
use toolwire_tool::context::CallId;

impl Store {
    /// The selected calls that are still recorded, the newest first.
    pub async fn find_calls(
        &self,
        named: Named<'_>,
        now: SystemTime,
    ) -> Result<Vec<RecordedCall>, StoreError> {
        let mut reader = self.reader().await?;
        let listed = self.explain(rows::list_named(&mut reader, named, now).await)?;
        Ok(self.with_owners(listed))
    }

    /// The outcome of a call, if it has ended and is still recorded.
    pub async fn call_outcome(&self, key: &Key) -> Result<Option<ToolResult<StoredPayload>>, StoreError> {
        let mut reader = self.reader().await?;
        let record = self.explain(rows::find(&mut reader, key).await)?;
        Ok(record.and_then(|record| super::outcome(record, key)))
    }

    /// Calls before one of this id, the newest first.
    pub async fn list_calls(
        &self,
        criteria: &Criteria,
        before: Option<CallId>,
        limit: u32,
        now: SystemTime,
    ) -> Result<Vec<RecordedCall>, StoreError> {
        let listed = async {
            match &criteria.user {
                Some(user) => {
                    let mut reading = self.reading(user).await?;
                    rows::list(&mut reading, criteria, before, limit, now).await
                }
                None => rows::list(&mut *self.reader().await?, criteria, before, limit, now).await,
            }
        };
        let listed: Result<_, Error> = listed.await;
        Ok(self.with_owners(self.explain(listed)?))
    }

    /// The pending confirmation of a part of a call that waits for it.
    pub async fn pending_part(&self, key: &Key) -> Result<Option<ConfirmationId>, StoreError> {
        let mut reader = self.reader().await?;
        self.explain(rows::pending_part(&mut reader, key).await)
    }

    /// Determines for unfinished calls whether the owner has ended; each owner is checked once.
    fn with_owners(&self, listed: Vec<Listed>) -> Vec<RecordedCall> {
        let mut gone = HashMap::<String, bool>::new();
        let mut is_gone = |replica: String| {
            *gone.entry(replica).or_insert_with_key(|replica| self.replica.is_gone(&self.location, replica))
        };
        let mut with_owner = |Listed { mut call, replica }: Listed| {
            call.is_left = call.standing == Standing::Started && replica.is_some_and(&mut is_gone);
            call
        };
        listed.into_iter().map(&mut with_owner).collect()
    }
}

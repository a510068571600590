//! The owner of a recorded call, and the wait for its end in another process.

use tokio::time::{Duration, timeout};

use super::{CallRecord, RecordState};
use crate::{
    Store,
    calls::rows::{self, Record},
    idempotency::{Begun, FoundWrite, Key, Owner, RemoteEnd, WriteState},
    topic::Topic,
};
use toolwire_contract::ErrorCode;
use toolwire_db::{Error, StoreError, sql::AsText};
use toolwire_tool::context::CallId;

/// Interval at which the owner's liveness is checked, since the end of a process changes nothing in the file.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

impl Store {
    pub(in crate::transactions) async fn owner_of_call(&self, key: &Key) -> Result<Owner, Error> {
        let record = rows::find(key).optional(&mut self.reader().await?).await?;
        match record {
            Some(record) => Ok(self.owner_of(record, key).await?.0),
            None => Ok(Owner::Over),
        }
    }

    /// The write that a call executes.
    pub async fn find_write(&self, call: CallId) -> Result<Option<FoundWrite>, StoreError> {
        let found = self.find_write_of(call).await;
        self.explain(found)
    }

    async fn find_write_of(&self, call: CallId) -> Result<Option<FoundWrite>, Error> {
        let mut reader = self.reader().await?;
        let found = rows::find_write(call).optional(&mut reader).await?;
        let Some((user, tool, AsText(request_id), task)) = found else { return Ok(None) };
        let key = Key { user, tool, request_id };
        let Some(record) = rows::find(&key).optional(&mut reader).await? else { return Ok(None) };
        drop(reader);
        let is_own = match &record.replica {
            Some(replica) => self.is_own(replica).await?,
            None => false,
        };
        let state = match self.owner_of(record, &key).await? {
            (_, RecordState::Ended(Begun::Ended(result))) => match &result.outcome {
                Err(error) if error.code == ErrorCode::OutcomeUnknown => WriteState::Unknown,
                _ => WriteState::Known,
            },
            (Owner::Lost, _) if !is_own => WriteState::Lost,
            _ => WriteState::Open,
        };
        Ok(Some(FoundWrite { key, is_of_task: task.is_some(), state }))
    }

    /// While the state cannot be read, the call counts as running.
    pub(in crate::transactions) async fn end_of_remote_call(&self, key: &Key, call_id: CallId) -> RemoteEnd {
        // Subscribed before the first read, so that no change is missed.
        let mut changed = self.follow(Topic::Elsewhere).await.ok();
        loop {
            match self.find_remote_end(key, call_id).await {
                Ok(Some(end)) => return end,
                Ok(None) => {}
                Err(error) => _ = self.explain::<()>(Err(error)),
            }
            if let Some(changed) = &mut changed {
                _ = timeout(POLL_INTERVAL, changed.changed()).await;
            } else {
                tokio::time::sleep(POLL_INTERVAL).await;
                changed = self.follow(Topic::Elsewhere).await.ok();
            }
        }
    }

    /// The end of the call; `None` while its process executes it.
    async fn find_remote_end(&self, key: &Key, call_id: CallId) -> Result<Option<RemoteEnd>, Error> {
        let mut reader = self.reader().await?;
        if let Some(record) = rows::find(key).optional(&mut reader).await? {
            return Ok(match self.owner_of(record, key).await? {
                (_, RecordState::Ended(Begun::Ended(result))) => {
                    Some(RemoteEnd::Ended(Box::new(self.with_data(key, *result).await)))
                }
                (Owner::Remote(owner), _) if owner == call_id => None,
                _ => Some(RemoteEnd::Unsettled),
            });
        }
        // A call that ended without effect has no record. If it is a write, its audit record has the code of its end.
        let code = rows::audit_code(call_id).optional(&mut reader).await?;
        let is_cancelled = code.is_some_and(|code| code == ErrorCode::Cancelled.into_str());
        Ok(Some(if is_cancelled { RemoteEnd::Cancelled } else { RemoteEnd::Unsettled }))
    }

    /// The owner of a recorded call, and the state of the call.
    async fn owner_of(&self, record: Record, key: &Key) -> Result<(Owner, RecordState), Error> {
        // A call with an outcome has no owner even if the outcome cannot be read, nor has a record of an early version.
        let replica = match &record.replica {
            Some(replica) if record.kept.is_none() && self.is_elsewhere(replica).await? => Some(replica),
            _ => None,
        };
        let elsewhere = replica.and(record.call_id.as_ref()).and_then(|id| id.parse().ok());
        let state = CallRecord::of(record, key).state;
        let owner = match state {
            RecordState::Started => elsewhere.map_or(Owner::Lost, Owner::Remote),
            RecordState::Asked(_) | RecordState::Ended(_) => Owner::Over,
        };
        Ok((owner, state))
    }
}

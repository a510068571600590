//! The owner of a recorded call, and the wait for its end in another process.

use tokio::time::{Duration, timeout};

use super::{RecordState, Recorded};
use crate::{
    engine::{Error, Store, follow::Topic},
    idempotency::{Begun, EndElsewhere, Key, Owner},
    rows::calls::{self as rows, Record},
};
use toolwire_contract::ErrorCode;
use toolwire_tool::context::CallId;

/// Interval at which the owner's liveness is checked, since the end of a process changes nothing in the file.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

impl Store {
    pub(in crate::engine) async fn owner_of_call(&self, key: &Key) -> Result<Owner, Error> {
        let record = rows::find(key).optional(&mut *self.reader().await?).await?;
        Ok(record.map_or(Owner::Over, |record| self.owner_of(record, key).0))
    }

    /// While the state cannot be read, the call counts as running.
    pub(in crate::engine) async fn end_of_call_elsewhere(&self, key: &Key, call_id: CallId) -> EndElsewhere {
        // Listening from before the first look, so that nothing is missed.
        let mut changed = self.follow(Topic::Elsewhere).await.ok();
        loop {
            match self.end_elsewhere(key, call_id).await {
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
    async fn end_elsewhere(&self, key: &Key, call_id: CallId) -> Result<Option<EndElsewhere>, Error> {
        let mut reader = self.reader().await?;
        if let Some(record) = rows::find(key).optional(&mut reader).await? {
            return Ok(match self.owner_of(record, key) {
                (_, RecordState::Ended(Begun::Ended(result))) => Some(EndElsewhere::Ended(result)),
                (Owner::Elsewhere(owner), _) if owner == call_id => None,
                _ => Some(EndElsewhere::Unsettled),
            });
        }
        // A call without effect is forgotten; if it wrote, its audit record says how it ended.
        let code = rows::code_of_audited(call_id).optional(&mut reader).await?;
        let is_cancelled = code.is_some_and(|code| code == ErrorCode::Cancelled.into_str());
        Ok(Some(if is_cancelled { EndElsewhere::Cancelled } else { EndElsewhere::Unsettled }))
    }

    /// The owner of a recorded call, and the state of the call.
    fn owner_of(&self, record: Record, key: &Key) -> (Owner, RecordState) {
        // An outcome that cannot be read has no owner, nor has what an earlier program recorded.
        let replica = record.replica.as_ref().filter(|it| record.kept.is_none() && self.is_elsewhere(it));
        let elsewhere = replica.and(record.call_id.as_ref()).and_then(|id| id.parse().ok());
        let standing = Recorded::of(record, key).standing;
        let owner = match standing {
            RecordState::Started => elsewhere.map_or(Owner::Lost, Owner::Elsewhere),
            RecordState::Asked(_) | RecordState::Ended(_) => Owner::Over,
        };
        (owner, standing)
    }
}

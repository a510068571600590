//! Which process carries a recorded call out, and the wait for its end where that is another one.

use sqlx::{Row, sqlite::SqliteRow};
use tokio::time::{Duration, timeout};

use super::{Query, Standing, of_key, recorded};
use crate::{
    idempotency::{Begun, EndElsewhere, Key, Owner},
    sqlite::{Failed, Sqlite, follow::Topic},
};
use toolwire_contract::ErrorCode;
use toolwire_tool::context::CallId;

/// The end of a process changes nothing in the file: it is looked for this often.
const LOOK: Duration = Duration::from_secs(1);

const FIND: &str = "SELECT digest, begun_at, fetched_at, kept, data, state, confirmation_id, call_id, replica FROM idempotency \
                    WHERE user_id = ? AND tool = ? AND request_id = ?";

/// What is forgotten was audited before, if it wrote.
const CODE: &str = "SELECT code FROM audit WHERE call_id = ? AND kind = 'write' AND ended_at IS NOT NULL";

impl Sqlite {
    pub(in crate::sqlite) async fn owner_of_call(&self, key: &Key) -> Result<Owner, Failed> {
        match find(of_key(sqlx::query(FIND), key), self).await? {
            None => Ok(Owner::Over),
            Some(row) => self.owner(&row, key),
        }
    }

    /// While the state cannot be read, the call is not known to have ended.
    pub(in crate::sqlite) async fn end_of_call_elsewhere(&self, key: &Key, call_id: CallId) -> EndElsewhere {
        // Listening from before the first look, so that nothing is missed.
        let mut changed = self.follow(Topic::Elsewhere).await.ok();
        loop {
            match self.end_elsewhere(key, call_id).await {
                Ok(Some(end)) => return end,
                Ok(None) => {}
                Err(error) => _ = self.explain::<()>(Err(error)),
            }
            if let Some(changed) = &mut changed {
                _ = timeout(LOOK, changed.changed()).await;
            } else {
                tokio::time::sleep(LOOK).await;
                changed = self.follow(Topic::Elsewhere).await.ok();
            }
        }
    }

    /// How it came to an end; `None` while its process carries it out.
    async fn end_elsewhere(&self, key: &Key, call_id: CallId) -> Result<Option<EndElsewhere>, Failed> {
        let row = find(of_key(sqlx::query(FIND), key), self).await?;
        if let Some(row) = &row {
            if let Standing::Ended(Begun::Ended(result)) = recorded(row, key)?.standing {
                return Ok(Some(EndElsewhere::Ended(result)));
            }
            if self.owner(row, key)? == Owner::Elsewhere(call_id) {
                return Ok(None);
            }
        }
        let code: Option<String> =
            sqlx::query_scalar(CODE).bind(call_id.to_string()).fetch_optional(self.readers().await?).await?;
        let is_cancelled = row.is_none() && code.is_some_and(|code| code == ErrorCode::Cancelled.into_str());
        Ok(Some(if is_cancelled { EndElsewhere::Cancelled } else { EndElsewhere::Unsettled }))
    }

    fn owner(&self, row: &SqliteRow, key: &Key) -> Result<Owner, Failed> {
        let Standing::Started = recorded(row, key)?.standing else { return Ok(Owner::Over) };
        // An outcome that cannot be read has no owner, nor has what an earlier program recorded.
        let is_kept = row.try_get::<Option<&str>, _>("kept")?.is_some();
        let replica: Option<String> = row.try_get("replica")?;
        let call_id = row.try_get::<Option<&str>, _>("call_id")?.and_then(|id| id.parse().ok());
        let elsewhere = replica.filter(|replica| !is_kept && self.is_elsewhere(replica)).and(call_id);
        Ok(elsewhere.map_or(Owner::Lost, Owner::Elsewhere))
    }
}

async fn find(query: Query<'_>, state: &Sqlite) -> Result<Option<SqliteRow>, Failed> {
    Ok(query.fetch_optional(state.readers().await?).await?)
}

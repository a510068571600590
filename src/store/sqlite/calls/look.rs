//! Recorded calls, read.

use std::{collections::HashMap, str::FromStr, time::SystemTime};

use futures_util::future::BoxFuture;
use sqlx::{QueryBuilder, Row, sqlite::SqliteRow};

use super::{FIND, ended, of_key};
use crate::{
    StoreError,
    calls::{Calls, Criteria, Named, RecordedCall, Standing},
    idempotency::{Begun, Key},
    sqlite::{
        Failed, Sqlite,
        time::{instant, millis},
    },
};
use toolwire_base::digest::Digest;
use toolwire_contract::{ConfirmationId, ToolResult, payload::StoredPayload};
use toolwire_tool::context::CallId;

const SELECT: &str = "SELECT user_id, tool, request_id, call_id, parent_call_id, definition_digest, face, task_id, session_id, \
     trace_id, begun_at, ended_at, deadline, confirmation_id, state, kept IS NOT NULL AS has_ended, code, replica FROM idempotency \
     WHERE call_id IS NOT NULL AND expires_at > ";

const PENDING_PART: &str = "SELECT id FROM confirmations WHERE user_id = ? AND state = 'pending' AND outer_request_id = ? \
                            ORDER BY rowid DESC LIMIT 1";

impl Calls for Sqlite {
    fn recorded<'a>(
        &'a self,
        named: Named<'a>,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<RecordedCall>, StoreError>> {
        Box::pin(async move { self.explain(self.recorded_calls(named, now).await) })
    }

    fn outcome<'a>(
        &'a self,
        key: &'a Key,
    ) -> BoxFuture<'a, Result<Option<ToolResult<StoredPayload>>, StoreError>> {
        Box::pin(async move { self.explain(self.recorded_outcome(key).await) })
    }

    fn calls<'a>(
        &'a self,
        criteria: &'a Criteria,
        before: Option<CallId>,
        limit: u32,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<RecordedCall>, StoreError>> {
        Box::pin(async move { self.explain(self.listed_calls(criteria, before, limit, now).await) })
    }

    fn pending_part<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<ConfirmationId>, StoreError>> {
        Box::pin(async move { self.explain(self.pending_part_of(key).await) })
    }
}

impl Sqlite {
    async fn recorded_calls(&self, named: Named<'_>, now: SystemTime) -> Result<Vec<RecordedCall>, Failed> {
        let mut query = QueryBuilder::new(SELECT);
        query.push_bind(millis(now));
        match named {
            Named::Call(call_id) => {
                query.push(" AND call_id = ").push_bind(call_id.to_string());
            }
            Named::Request(user, request_id, tool) => {
                query.push(" AND user_id = ").push_bind(user.to_string());
                query.push(" AND request_id = ").push_bind(request_id.to_string());
                if let Some(tool) = tool {
                    query.push(" AND tool = ").push_bind(tool.to_owned());
                }
            }
        }
        let rows = query.push(" ORDER BY call_id DESC LIMIT 16").build();
        self.recorded(&rows.fetch_all(self.readers().await?).await?)
    }

    async fn recorded_outcome(&self, key: &Key) -> Result<Option<ToolResult<StoredPayload>>, Failed> {
        let row = of_key(sqlx::query(FIND), key).fetch_optional(self.readers().await?).await?;
        let Some(row) = row else { return Ok(None) };
        let Some(description) = row.try_get::<Option<String>, _>("kept")? else { return Ok(None) };
        match ended(&row, key, description)? {
            super::Standing::Ended(Begun::Ended(result)) => Ok(Some(*result)),
            _ => Ok(None),
        }
    }

    async fn listed_calls(
        &self,
        criteria: &Criteria,
        before: Option<CallId>,
        limit: u32,
        now: SystemTime,
    ) -> Result<Vec<RecordedCall>, Failed> {
        let mut query = QueryBuilder::new(SELECT);
        query.push_bind(millis(now));
        if let Some(user) = &criteria.user {
            query.push(" AND user_id = ").push_bind(user.to_string());
        }
        if let Some(before) = before {
            query.push(" AND call_id < ").push_bind(before.to_string());
        }
        if let Some(since) = criteria.since {
            query.push(" AND begun_at >= ").push_bind(millis(since));
        }
        if let Some(parent) = criteria.parent_call_id {
            query.push(" AND parent_call_id = ").push_bind(parent.to_string());
        }
        for (column, text) in [("task_id", &criteria.task_id), ("session_id", &criteria.session_id)] {
            if !text.is_empty() {
                query.push(format!(" AND {column} = ")).push_bind(text.clone());
            }
        }
        if !criteria.tools.is_empty() {
            query.push(" AND tool IN (");
            let mut tools = query.separated(", ");
            for tool in &criteria.tools {
                tools.push_bind(tool.clone());
            }
            query.push(")");
        }
        let rows = query.push(" ORDER BY call_id DESC LIMIT ").push_bind(limit).build();
        self.recorded(&match &criteria.user {
            Some(user) => rows.fetch_all(&mut *self.reading(user).await?).await?,
            None => rows.fetch_all(self.readers().await?).await?,
        })
    }

    /// Of those that have no end it is looked whether who carries them out is there: once for each process.
    fn recorded(&self, rows: &[SqliteRow]) -> Result<Vec<RecordedCall>, Failed> {
        let mut gone = HashMap::<String, bool>::new();
        let mut is_gone = |replica: String| {
            *gone.entry(replica).or_insert_with_key(|replica| self.replica.is_gone(&self.place, replica))
        };
        rows.iter()
            .map(recorded)
            .map(|found| {
                let (mut call, replica) = found?;
                call.is_left = call.standing == Standing::Started && replica.is_some_and(&mut is_gone);
                Ok(call)
            })
            .collect()
    }

    async fn pending_part_of(&self, key: &Key) -> Result<Option<ConfirmationId>, Failed> {
        let found: Option<String> = sqlx::query_scalar(PENDING_PART)
            .bind(key.user.as_str())
            .bind(key.request_id.to_string())
            .fetch_optional(self.readers().await?)
            .await?;
        Ok(found.and_then(|id| id.parse().ok()))
    }
}

/// A call, and the process that began it.
fn recorded(row: &SqliteRow) -> Result<(RecordedCall, Option<String>), Failed> {
    let text = |column| row.try_get::<Option<String>, _>(column).map(Option::unwrap_or_default);
    let at = |column| row.try_get::<Option<i64>, _>(column).map(|it| it.map(instant));
    let (state, has_ended): (String, bool) = (row.try_get("state")?, row.try_get("has_ended")?);
    let standing = match (has_ended, state.as_str()) {
        (true, _) => Standing::Ended(text("code")?),
        (false, "asked") => Standing::Asked,
        (false, _) => Standing::Started,
    };
    let digest: Option<Vec<u8>> = row.try_get("definition_digest")?;
    let call = RecordedCall {
        key: Key {
            user: parsed(&text("user_id")?)?,
            tool: parsed(&text("tool")?)?,
            request_id: parsed(&text("request_id")?)?,
        },
        call_id: parsed(&text("call_id")?)?,
        parent_call_id: text("parent_call_id")?.parse().ok(),
        definition_digest: digest.and_then(|bytes| Digest::from_bytes(&bytes)),
        face: text("face")?,
        task_id: text("task_id")?,
        session_id: text("session_id")?,
        trace_id: text("trace_id")?,
        begun_at: instant(row.try_get("begun_at")?),
        ended_at: if has_ended { at("ended_at")? } else { None },
        deadline: at("deadline")?,
        confirmation: text("confirmation_id")?.parse().ok(),
        standing,
        is_left: false,
    };
    Ok((call, row.try_get("replica")?))
}

fn parsed<T: FromStr<Err: ToString>>(text: &str) -> Result<T, Failed> {
    let unreadable = |error: T::Err| StoreError::Unreadable { what: "call", cause: error.to_string() };
    text.parse().map_err(|error| Failed::Store(unreadable(error)))
}

//! Records, read: each user's by the positions among what that user sees.

use sqlx::{QueryBuilder, Row, sqlite::SqliteRow};

use crate::{
    StoreError,
    audit::{Criteria, Filter, Record},
    sqlite::{
        Failed, Sqlite,
        time::{instant, millis},
    },
};
use toolwire_base::digest::Digest;

const COLUMNS: &str = "kind, at, ended_at, user_id, known_by, peer, face, caller, tool, definition_digest, \
     arguments_digest, verdict, code, call_id, request_id, trace_id, task_id, confirmation_id, approver, on_behalf_of";

impl Sqlite {
    pub(super) async fn listed_records(
        &self,
        criteria: &Criteria,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Record>, Failed> {
        let before = i64::try_from(before.unwrap_or(u64::MAX)).unwrap_or(i64::MAX);
        let mut query = QueryBuilder::new("");
        match &criteria.seen_by {
            None => select(&mut query, &criteria.filter, before, limit, ("sequence", None)),
            Some(user) => {
                // Each half by its own index.
                query.push("SELECT * FROM (");
                let own = Some(("user_id = ", user.as_str()));
                select(&mut query, &criteria.filter, before, limit, ("position", own));
                query.push(") UNION ALL SELECT * FROM (");
                let of_others = Some(("caller <> user_id AND caller = ", user.as_str()));
                select(&mut query, &criteria.filter, before, limit, ("callers_position", of_others));
                query.push(") ORDER BY sequence DESC LIMIT ").push_bind(limit);
            }
        }
        let rows = match &criteria.seen_by {
            Some(user) => query.build().fetch_all(&mut *self.reading(user).await?).await?,
            None => query.build().fetch_all(self.readers().await?).await?,
        };
        rows.iter().map(record).collect()
    }
}

fn select(
    query: &mut QueryBuilder<sqlx::Sqlite>,
    filter: &Filter,
    before: i64,
    limit: u32,
    (position, seen): (&str, Option<(&str, &str)>),
) {
    query.push(format!("SELECT {position} AS sequence, {COLUMNS} FROM audit WHERE {position} < "));
    query.push_bind(before);
    if let Some((condition, user)) = seen {
        query.push(format!(" AND {condition}")).push_bind(user.to_owned());
    }
    if let Some(user) = &filter.user {
        query.push(" AND user_id = ").push_bind(user.to_string());
    }
    if let Some(since) = filter.since {
        query.push(" AND at >= ").push_bind(millis(since));
    }
    if let Some(until) = filter.until {
        query.push(" AND at < ").push_bind(millis(until));
    }
    for (column, text) in [("call_id", &filter.call_id), ("confirmation_id", &filter.confirmation_id)] {
        if !text.is_empty() {
            query.push(format!(" AND {column} = ")).push_bind(text.clone());
        }
    }
    any_of(query, "tool", filter.tools.clone());
    any_of(query, "kind", filter.kinds.iter().map(|kind| kind.into_str().to_owned()).collect());
    query.push(format!(" ORDER BY {position} DESC LIMIT ")).push_bind(limit);
}

fn any_of(query: &mut QueryBuilder<sqlx::Sqlite>, column: &str, values: Vec<String>) {
    if values.is_empty() {
        return;
    }
    query.push(format!(" AND {column} IN ("));
    let mut separated = query.separated(", ");
    for value in values {
        separated.push_bind(value);
    }
    query.push(")");
}

fn record(row: &SqliteRow) -> Result<Record, Failed> {
    let (kind, verdict): (String, String) = (row.try_get("kind")?, row.try_get("verdict")?);
    let digest = |column| -> Result<Digest, Failed> {
        Digest::from_bytes(row.try_get(column)?).ok_or_else(|| unreadable(column))
    };
    let sequence: i64 = row.try_get("sequence")?;
    Ok(Record {
        sequence: u64::try_from(sequence).unwrap_or_default(),
        kind: kind.parse().map_err(|_| unreadable("kind"))?,
        at: instant(row.try_get("at")?),
        ended_at: row.try_get::<Option<i64>, _>("ended_at")?.map(instant),
        user: row.try_get("user_id")?,
        known_by: row.try_get("known_by")?,
        peer: row.try_get("peer")?,
        face: row.try_get("face")?,
        caller: row.try_get("caller")?,
        tool: row.try_get("tool")?,
        definition_digest: Digest::from_bytes(row.try_get("definition_digest")?),
        arguments_digest: digest("arguments_digest")?,
        verdict: verdict.parse().map_err(|_| unreadable("verdict"))?,
        code: row.try_get("code")?,
        call_id: row.try_get("call_id")?,
        request_id: row.try_get("request_id")?,
        trace_id: row.try_get("trace_id")?,
        task_id: row.try_get("task_id")?,
        confirmation_id: row.try_get("confirmation_id")?,
        approver: row.try_get("approver")?,
        on_behalf_of: row.try_get("on_behalf_of")?,
    })
}

fn unreadable(column: &str) -> Failed {
    Failed::Store(StoreError::Unreadable { what: "audit record", cause: format!("its column {column}") })
}

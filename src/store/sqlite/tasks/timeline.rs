//! Timelines, read.

use futures_util::TryStreamExt;
use sqlx::Row as _;

use super::{
    entries::{COLUMNS, of_row},
    fault::Fault,
    open,
    rows::{column, number, parsed, state_of},
};
use crate::{
    sqlite::Sqlite,
    tasks::{
        EntryOf, MAX_PAGE_BYTES, OpenCall, Page, PageOf, Refused,
        entry::{Entry, Part},
    },
};
use toolwire_base::digest::Digest;
use toolwire_tool::context::{RequestId, TaskId, UserId};

const NEXT: &str = "SELECT next FROM tasks WHERE id = ? AND user_id = ? AND deleted = 0";

const OF_CALL: &str = "SELECT e.seq, e.call_id, t.state, t.reason FROM entries e JOIN tasks t ON t.id = e.task \
                       WHERE e.task = ? AND e.request_id = ? AND e.call_id IS NOT NULL ORDER BY e.seq DESC LIMIT 1";

const APART: &str = "SELECT part, text FROM entry_parts WHERE task = ? AND seq = ?";

impl Sqlite {
    pub(super) async fn secret_of_task(&self, id: &TaskId) -> Result<Digest, Fault> {
        Ok(self.secret_of(id.as_str()).await?)
    }

    /// How many entries a user's task has.
    async fn entries(&self, user: &UserId, id: &TaskId) -> Result<u64, Fault> {
        let next = sqlx::query_scalar(NEXT).bind(id.as_str()).bind(user.as_str());
        let next: Option<i64> = next.fetch_optional(self.readers().await?).await?;
        Ok(number(next.ok_or(Refused::Unknown)?))
    }

    pub(super) async fn timeline_page(
        &self,
        user: &UserId,
        id: &TaskId,
        page: PageOf,
    ) -> Result<Page, Fault> {
        let total = self.entries(user, id).await?;
        let mut reading = self.reading(user).await?;
        let (from, comparison, order) = match (page.backwards, page.from) {
            (false, from) => (from.unwrap_or(0), ">=", "ASC"),
            (true, from) => (from.unwrap_or(u64::MAX), "<=", "DESC"),
        };
        let query = format!(
            "SELECT {COLUMNS} FROM entries e WHERE e.task = ? AND e.seq {comparison} ? ORDER BY e.seq {order} LIMIT ?"
        );
        let mut rows = sqlx::query(sqlx::AssertSqlSafe(query))
            .bind(id.as_str())
            .bind(column(from))
            .bind(page.limit)
            .fetch(&mut *reading);
        let (mut entries, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.try_next().await? {
            bytes += ["head", "input", "result"]
                .iter()
                .map(|column| row.try_get::<Option<&str>, _>(*column).ok().flatten().map_or(0, str::len))
                .sum::<usize>();
            if bytes > MAX_PAGE_BYTES && !entries.is_empty() {
                break;
            }
            entries.push(of_row(&row)?);
        }
        let next = entries.last().map(|last: &Entry| last.sequence).and_then(|last| {
            if page.backwards { last.checked_sub(1) } else { Some(last + 1).filter(|next| *next < total) }
        });
        Ok(Page { entries, next })
    }

    pub(super) async fn whole_entry(
        &self,
        user: &UserId,
        id: &TaskId,
        sequence: u64,
    ) -> Result<Option<Entry>, Fault> {
        let page = PageOf { from: Some(sequence), backwards: false, limit: 1 };
        let found = self.timeline_page(user, id, page).await?.entries.into_iter().next();
        let Some(mut entry) = found.filter(|entry| entry.sequence == sequence) else { return Ok(None) };
        let apart = sqlx::query(APART).bind(id.as_str()).bind(column(sequence));
        for row in apart.fetch_all(self.readers().await?).await? {
            let (input, result) = entry.body.parts();
            let part = if row.try_get::<&str, _>("part")? == "input" { input } else { result };
            if let Some(part) = part {
                *part = Part::Whole(row.try_get("text")?);
            }
        }
        Ok(Some(entry))
    }

    pub(super) async fn entry_of_call(
        &self,
        user: &UserId,
        id: &TaskId,
        request_id: RequestId,
    ) -> Result<Option<EntryOf>, Fault> {
        self.entries(user, id).await?;
        let row = sqlx::query(OF_CALL).bind(id.as_str()).bind(request_id.to_string());
        let Some(row) = row.fetch_optional(self.readers().await?).await? else { return Ok(None) };
        let call_id = parsed(&row.try_get::<String, _>("call_id")?)?;
        let state = state_of(row.try_get("state")?, row.try_get("reason")?)?;
        Ok(Some(EntryOf { sequence: number(row.try_get("seq")?), call_id, state }))
    }

    pub(super) async fn open_calls_of(&self, user: &UserId, id: &TaskId) -> Result<Vec<OpenCall>, Fault> {
        self.entries(user, id).await?;
        let mut connection = self.readers().await?.acquire().await?;
        Ok(open::all(&mut connection, id).await?)
    }
}

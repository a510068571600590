//! Confirmations and their changes, read.

use std::time::SystemTime;

use futures_util::TryStreamExt;
use sqlx::{QueryBuilder, Row, sqlite::SqliteRow};

use crate::{
    confirmations::{
        Among, Binding, Change, Confirmation, Criteria, DENIAL_ANSWERS, Kept, MAX_PAGE_BYTES, Page, Place,
        life::State,
    },
    sqlite::{
        Failed, Sqlite,
        confirmation_rows::{COLUMNS, LISTED_COLUMNS, confirmation},
        readers::Reading,
        time::{instant, length, millis},
    },
};
use toolwire_contract::ConfirmationId;
use toolwire_tool::context::{RequestId, TaskLabel, UserId};

const ADOPT: &str = "SELECT request_id FROM confirmations \
    WHERE user_id = ?1 AND tool = ?2 AND arguments_digest = ?3 AND definition_digest = ?4 AND task_id IS ?5 \
    AND (state IN ('pending', 'approved') AND expires_at > ?6 OR state = 'denied' AND ended_at > ?7) \
    ORDER BY rowid DESC LIMIT 1";

const KEPT: &str = "SELECT last, coalesce((SELECT MIN(sequence) FROM confirmation_events), last + 1) \
                    FROM confirmation_sequence";

const KEPT_OF_USER: &str = "SELECT last, coalesce((SELECT MIN(position) FROM confirmation_events WHERE user_id = ?1), \
                            last + 1) FROM confirmation_positions WHERE user_id = ?1";

const SINCE: &str =
    "SELECT sequence, confirmation_id FROM confirmation_events WHERE sequence > ? ORDER BY sequence LIMIT ?";

/// So many changes are told one by one.
const AT_ONCE: u32 = 256;

impl Sqlite {
    pub(super) async fn adoptable(
        &self,
        binding: &Binding<'_>,
        now: SystemTime,
    ) -> Result<Option<RequestId>, Failed> {
        let now = millis(now);
        let found: Option<String> = sqlx::query_scalar(ADOPT)
            .bind(binding.user.as_str())
            .bind(binding.tool.as_str())
            .bind(binding.arguments_digest.as_bytes().to_vec())
            .bind(binding.definition_digest.as_bytes().to_vec())
            .bind(binding.task_id.map(TaskLabel::as_str))
            .bind(now)
            .bind(now - length(DENIAL_ANSWERS))
            .fetch_optional(self.readers().await?)
            .await?;
        Ok(found.and_then(|text| text.parse().ok()))
    }

    pub(super) async fn confirmation(
        &self,
        id: &ConfirmationId,
        now: SystemTime,
    ) -> Result<Option<Confirmation>, Failed> {
        let query = format!("SELECT {COLUMNS} FROM confirmations c WHERE c.id = ?");
        let row = sqlx::query(sqlx::AssertSqlSafe(query)).bind(id.as_str());
        let Some(row) = row.fetch_optional(self.readers().await?).await? else { return Ok(None) };
        let mut found = confirmation(&row)?;
        // The timer has not come to it yet.
        if found.state.is_open() && found.expires_at <= now {
            found.state = State::Expired;
        }
        Ok(Some(found))
    }

    pub(super) async fn listed_confirmations(
        &self,
        (viewer, among): (&UserId, &Among),
        criteria: &Criteria,
        from: Option<Place>,
        limit: u32,
    ) -> Result<Page, Failed> {
        let (position, mut reading) = (position(among), self.reading(viewer).await?);
        let mut page = Filling { limit: limit as usize, ..Filling::default() };
        if !matches!(from, Some(Place::Other(_))) {
            let mut query = select(criteria);
            query.push(" AND c.state = 'pending'");
            if let Some(Place::Pending(after)) = from {
                query.push(format!(" AND {position} > ")).push_bind(column(after));
            }
            query.push(format!(" ORDER BY {position}"));
            page.fill(&mut reading, query).await?;
        }
        if !page.more {
            let mut query = select(criteria);
            query.push(" AND c.state <> 'pending'");
            if let Some(Place::Other(before)) = from {
                query.push(format!(" AND {position} < ")).push_bind(column(before));
            }
            query.push(format!(" ORDER BY {position} DESC"));
            page.fill(&mut reading, query).await?;
        }
        Ok(Page { confirmations: page.found, more: page.more })
    }

    pub(super) async fn open_confirmations(
        &self,
        (viewer, among): (&UserId, &Among),
        criteria: &Criteria,
        (after, up_to): (u64, u64),
    ) -> Result<Page, Failed> {
        let (position, mut reading) = (position(among), self.reading(viewer).await?);
        let mut query = select(criteria);
        query
            .push(format!(" AND c.state IN ('pending', 'approved') AND {position} > "))
            .push_bind(column(after));
        query.push(format!(" AND {position} <= ")).push_bind(column(up_to));
        query.push(format!(" ORDER BY {position}"));
        let mut page = Filling { limit: AT_ONCE as usize, ..Filling::default() };
        page.fill(&mut reading, query).await?;
        Ok(Page { confirmations: page.found, more: page.more })
    }

    pub(super) async fn confirmation_changes(
        &self,
        among: &Among,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Change>, Failed> {
        let mut query = QueryBuilder::new(format!(
            "SELECT {LISTED_COLUMNS}, e.sequence AS at_sequence, e.position AS at_position, e.state AS became, e.at, \
             e.expires_at AS until, e.reason AS why \
             FROM confirmation_events e JOIN confirmations c ON c.id = e.confirmation_id WHERE "
        ));
        let position = match among {
            Among::All => "e.sequence",
            Among::Own(user) => {
                query.push("e.user_id = ").push_bind(user.as_str()).push(" AND ");
                "e.position"
            }
        };
        query.push(format!("{position} > ")).push_bind(column(after));
        query.push(format!(" ORDER BY {position} LIMIT ")).push_bind(limit);
        let mut rows = query.build().fetch(self.readers().await?);
        let (mut changes, mut bytes) = (Vec::new(), 0);
        while let Some(row) = rows.try_next().await? {
            bytes += size(&row)?;
            if bytes > MAX_PAGE_BYTES && !changes.is_empty() {
                break;
            }
            changes.push(changed(&row)?);
        }
        Ok(changes)
    }

    /// Tells those who wait what other processes changed. Who comes while another looks is told by it.
    pub(super) async fn look_for_changes(&self) {
        let Ok(mut looked) = self.confirmations_waiting.looked.try_lock() else { return };
        if !looked.is_due() {
            return;
        }
        match self.explain(self.changed_since(looked.seen).await) {
            Ok((Some(ids), last)) => {
                looked.seen = Some(last);
                for id in &ids {
                    self.confirmations_waiting.tell(id);
                }
            }
            Ok((None, last)) => {
                looked.seen = Some(last);
                self.confirmations_waiting.tell_all();
            }
            // Whoever waits looks for itself, and says so.
            Err(_) => self.confirmations_waiting.tell_all(),
        }
    }

    /// What changed after a position, and the position that this goes up to. `None`: too much to be told one by one.
    async fn changed_since(&self, seen: Option<u64>) -> Result<(Option<Vec<ConfirmationId>>, u64), Failed> {
        let Some(seen) = seen else { return Ok((None, self.kept_changes(&Among::All).await?.last)) };
        let rows: Vec<(i64, String)> =
            sqlx::query_as(SINCE).bind(column(seen)).bind(AT_ONCE).fetch_all(self.readers().await?).await?;
        let last = rows.last().map_or(seen, |(sequence, _)| u64::try_from(*sequence).unwrap_or(seen));
        if rows.len() >= AT_ONCE as usize {
            return Ok((None, self.kept_changes(&Among::All).await?.last));
        }
        Ok((Some(rows.iter().filter_map(|(_, id)| id.parse().ok()).collect()), last))
    }

    pub(super) async fn kept_changes(&self, among: &Among) -> Result<Kept, Failed> {
        let query = match among {
            Among::All => sqlx::query_as(KEPT),
            Among::Own(user) => sqlx::query_as(KEPT_OF_USER).bind(user.as_str()),
        };
        // Who was never asked for anything has no position yet.
        let found: Option<(i64, i64)> = query.fetch_optional(self.readers().await?).await?;
        let (last, first) = found.unwrap_or((0, 1));
        let position = |column: i64| u64::try_from(column).unwrap_or_default();
        Ok(Kept { first: position(first), last: position(last) })
    }
}

/// A part of a list that is being read.
#[derive(Default)]
struct Filling {
    found: Vec<Confirmation>,
    limit: usize,
    bytes: usize,
    /// Whether it is full, and there is more.
    more: bool,
}

impl Filling {
    async fn fill(
        &mut self,
        reading: &mut Reading,
        mut query: QueryBuilder<sqlx::Sqlite>,
    ) -> Result<(), Failed> {
        let left = self.limit - self.found.len();
        query.push(" LIMIT ").push_bind(column(left as u64 + 1));
        let mut rows = query.build().fetch(&mut **reading);
        while let Some(row) = rows.try_next().await? {
            self.bytes += size(&row)?;
            let is_full = self.found.len() == self.limit || self.bytes > MAX_PAGE_BYTES;
            if is_full && !self.found.is_empty() {
                self.more = true;
                return Ok(());
            }
            self.found.push(confirmation(&row)?);
        }
        Ok(())
    }
}

/// The bytes of a row that can be many.
fn size(row: &SqliteRow) -> Result<usize, Failed> {
    let arguments: Option<&str> = row.try_get("arguments")?;
    Ok(arguments.map_or(0, str::len) + row.try_get::<&str, _>("shown")?.len())
}

/// The column of the positions of confirmations.
fn position(among: &Among) -> &'static str {
    match among {
        Among::All => "c.sequence",
        Among::Own(_) => "c.position",
    }
}

fn select(criteria: &Criteria) -> QueryBuilder<sqlx::Sqlite> {
    let mut query = QueryBuilder::new(format!("SELECT {LISTED_COLUMNS} FROM confirmations c WHERE 1 = 1"));
    if let Some(user) = &criteria.user {
        query.push(" AND c.user_id = ").push_bind(user.to_string());
    }
    if let Some(task_id) = &criteria.task_id {
        query.push(" AND c.task_id = ").push_bind(task_id.to_string());
    }
    if !criteria.states.is_empty() {
        query.push(" AND c.state IN (");
        let mut states = query.separated(", ");
        for state in &criteria.states {
            states.push_bind(state.into_str());
        }
        query.push(")");
    }
    if !criteria.tools.is_empty() {
        query.push(" AND c.tool IN (");
        let mut tools = query.separated(", ");
        for tool in &criteria.tools {
            tools.push_bind(tool.clone());
        }
        query.push(")");
    }
    query
}

/// The confirmation as it stood after the change: what came later is left out.
fn changed(row: &SqliteRow) -> Result<Change, Failed> {
    let mut found = confirmation(row)?;
    let became: String = row.try_get("became")?;
    found.state = became.parse().unwrap_or(found.state);
    let position =
        |column: &str| Ok::<_, Failed>(u64::try_from(row.try_get::<i64, _>(column)?).unwrap_or_default());
    (found.sequence, found.position) = (position("at_sequence")?, position("at_position")?);
    found.expires_at = instant(row.try_get("until")?);
    found.reason = row.try_get("why")?;
    if found.state == State::Pending {
        found.decided = None;
    }
    if found.state.is_open() {
        found.used = None;
    }
    Ok(Change { confirmation: found, at: instant(row.try_get("at")?) })
}

fn column(position: u64) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

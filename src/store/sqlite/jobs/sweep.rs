//! Jobs that nobody carries out any more, and jobs that are kept no longer.

use std::time::SystemTime;

use sqlx::Row;

use super::{change::end, rows};
use crate::{
    jobs::{Ending, Failure, KEPT},
    sqlite::{
        Change, Durability, Failed, Sqlite,
        follow::Topic,
        time::{length, millis},
    },
};
use toolwire_tool::context::UserId;

/// So many jobs are forgotten at once, each with its events, so that others change something meanwhile.
const SWEPT: u32 = 50;

const REPLICAS: &str = "SELECT DISTINCT replica FROM jobs WHERE state = 'running'";

const OLD: &str = "SELECT position FROM jobs WHERE ended_at <= ? LIMIT ?";

const BEYOND: &str = "SELECT position FROM jobs WHERE user_id = ? AND state <> 'running' ORDER BY position DESC LIMIT -1 OFFSET ?";

impl Sqlite {
    pub(super) async fn interrupted_jobs(&self, now: SystemTime) -> Result<usize, Failed> {
        let replicas: Vec<String> = sqlx::query_scalar(REPLICAS).fetch_all(self.readers().await?).await?;
        let gone: Vec<_> =
            replicas.iter().filter(|replica| self.replica.is_gone(&self.place, replica)).collect();
        let mut interrupted = 0;
        for replica in gone {
            let mut change = self.change(Durability::Power).await?;
            let query = format!("SELECT {} FROM jobs WHERE state = 'running' AND replica = ?", rows::COLUMNS);
            let left = sqlx::query(sqlx::AssertSqlSafe(query)).bind(replica).fetch_all(&mut *change).await?;
            for row in &left {
                let ending = Ending::failed(Failure::interrupted(), String::new());
                end(&mut change, &rows::kept(row)?, &ending, now).await?;
                interrupted += 1;
            }
            change.commit().await?;
            self.followers.tell(Topic::Jobs);
        }
        Ok(interrupted)
    }

    pub(super) async fn swept_jobs(&self, now: SystemTime) -> Result<bool, Failed> {
        let mut change = self.change(Durability::Process).await?;
        let before = millis(now).saturating_sub(length(KEPT));
        let old = sqlx::query(OLD).bind(before).bind(SWEPT).fetch_all(&mut *change).await?;
        for row in &old {
            forget(&mut change, row.try_get("position")?).await?;
        }
        change.commit().await?;
        Ok(old.len() >= SWEPT as usize)
    }
}

/// Forgets the oldest of a user's that ended, beyond so many.
pub(super) async fn trim(change: &mut Change, user: &UserId, most: u32) -> Result<(), Failed> {
    let beyond = sqlx::query(BEYOND).bind(user.as_str()).bind(most).fetch_all(&mut **change).await?;
    for row in &beyond {
        forget(change, row.try_get("position")?).await?;
    }
    Ok(())
}

async fn forget(change: &mut Change, position: i64) -> Result<(), Failed> {
    sqlx::query("DELETE FROM job_events WHERE job = ?").bind(position).execute(&mut **change).await?;
    sqlx::query("DELETE FROM jobs WHERE position = ?").bind(position).execute(&mut **change).await?;
    Ok(())
}

//! Hold-offs that the processes of one machine share.

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};

use super::{
    Durability, Failed, Sqlite,
    time::{instant, millis},
};
use crate::{
    StoreError,
    hold_offs::{HoldOff, HoldOffs},
};

const OF_SOURCE: &str = "SELECT name, reason, until FROM hold_offs \
                         WHERE (name = ?1 OR name GLOB ?1 || '/*') AND until > ?2 ORDER BY name";

const BEGIN: &str = "INSERT INTO hold_offs (name, reason, until) VALUES (?, ?, ?) \
                     ON CONFLICT (name) DO UPDATE SET reason = excluded.reason, until = excluded.until \
                     WHERE excluded.until >= until";

impl HoldOffs for Sqlite {
    fn of_source<'a>(
        &'a self,
        source: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Vec<(String, HoldOff)>, StoreError>> {
        Box::pin(async move { self.explain(self.hold_offs_of(source, now).await) })
    }

    fn begin<'a>(&'a self, name: &'a str, hold_off: &'a HoldOff) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.explain(self.begin_hold_off(name, hold_off).await) })
    }
}

impl Sqlite {
    async fn hold_offs_of(&self, source: &str, now: SystemTime) -> Result<Vec<(String, HoldOff)>, Failed> {
        let query = sqlx::query(OF_SOURCE).bind(source).bind(millis(now));
        let rows = query.fetch_all(self.readers().await?).await?;
        let found = rows.iter().map(|row| Ok((row.try_get("name")?, hold_off(row)?)));
        Ok(found.collect::<Result<_, sqlx::Error>>()?)
    }

    async fn begin_hold_off(&self, name: &str, hold_off: &HoldOff) -> Result<(), Failed> {
        let begin = sqlx::query(BEGIN).bind(name).bind(&hold_off.reason).bind(millis(hold_off.until));
        // Lost with the power, it costs one request that is answered with another.
        let mut change = self.change(Durability::Process).await?;
        begin.execute(&mut *change).await?;
        change.commit().await
    }
}

fn hold_off(row: &SqliteRow) -> Result<HoldOff, sqlx::Error> {
    Ok(HoldOff { reason: row.try_get("reason")?, until: instant(row.try_get("until")?) })
}

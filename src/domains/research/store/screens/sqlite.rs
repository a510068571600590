//! Copies of screens, and each user's one scrape a day, across processes and restarts (spec 004 §3.0).

use std::time::SystemTime;

use futures_util::future::BoxFuture;
use sqlx::{Row, sqlite::SqliteRow};

use super::{Claim, SCRAPE_INTERVAL, ScreenCopy, ScreenedStock, Screens};
use crate::store::tables::Tables;
use toolwire_base::clock;
use toolwire_sources::upstream::text::{Identifier, Line};
use toolwire_store::{
    StoreError,
    sqlite::{
        Change, Durability, Failed,
        time::{instant, length, millis},
    },
};
use toolwire_tool::context::UserId;

const COPY: &str = "SELECT name, scraped_at FROM screens WHERE user_id = ? AND screen_id = ?";

const STOCKS: &str = "SELECT symbol, name, cmp, pe, market_cap_cr, roe FROM screened_stocks \
                      WHERE user_id = ? AND screen_id = ? ORDER BY position";

const DROP: &str = "DELETE FROM screens WHERE user_id = ? AND screen_id = ?";

const KEEP: &str = "INSERT INTO screens (user_id, screen_id, name, scraped_at) VALUES (?, ?, ?, ?)";

const KEEP_STOCK: &str = "INSERT INTO screened_stocks \
    (user_id, screen_id, position, symbol, name, cmp, pe, market_cap_cr, roe) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";

const CLAIMED_AT: &str = "SELECT claimed_at FROM scrapes WHERE user_id = ?";

const CLAIM: &str = "INSERT INTO scrapes (user_id, claimed_at, ends_by) VALUES (?, ?, ?) \
                     ON CONFLICT (user_id) DO UPDATE \
                     SET claimed_at = excluded.claimed_at, ends_by = excluded.ends_by";

const END: &str = "UPDATE scrapes SET ends_by = ? WHERE user_id = ? AND claimed_at = ?";

const UNDER_WAY: &str = "SELECT ends_by FROM scrapes WHERE user_id = ? AND ends_by > ?";

const RELEASE: &str = "DELETE FROM scrapes WHERE user_id = ? AND claimed_at = ?";

const REFUSE: &str = "INSERT INTO refused_logins (user_id, login, until) VALUES (?, ?, ?) \
                      ON CONFLICT (user_id, login) DO UPDATE SET until = excluded.until";

/// Those that are over are of no use to anybody.
const FORGIVE: &str = "DELETE FROM refused_logins WHERE until <= ?";

const REFUSED: &str = "SELECT until FROM refused_logins WHERE user_id = ? AND login = ? AND until > ?";

impl Screens for Tables {
    fn copy<'a>(
        &'a self,
        user: &'a UserId,
        screen_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<ScreenCopy>, StoreError>> {
        Box::pin(async move { self.state.explain(self.copy_of(&self.user_key(user), screen_id).await) })
    }

    fn keep<'a>(
        &'a self,
        user: &'a UserId,
        screen_id: &'a str,
        copy: &'a ScreenCopy,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(
            async move { self.state.explain(self.keep_copy(&self.user_key(user), screen_id, copy).await) },
        )
    }

    fn claim_scrape<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
        ends_by: SystemTime,
    ) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(async move { self.state.explain(self.claim(&self.user_key(user), now, ends_by).await) })
    }

    fn end_scrape<'a>(
        &'a self,
        user: &'a UserId,
        claimed_at: SystemTime,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.state.explain(self.end(&self.user_key(user), claimed_at, now).await) })
    }

    fn scrape_under_way<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>> {
        Box::pin(async move { self.state.explain(self.under_way(&self.user_key(user), now).await) })
    }

    fn release_scrape<'a>(
        &'a self,
        user: &'a UserId,
        claimed_at: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.state.explain(self.release(&self.user_key(user), claimed_at).await) })
    }

    fn refuse_login<'a>(
        &'a self,
        user: &'a UserId,
        login: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { self.state.explain(self.refuse(&self.user_key(user), login, until).await) })
    }

    fn login_refused_until<'a>(
        &'a self,
        user: &'a UserId,
        login: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>> {
        Box::pin(
            async move { self.state.explain(self.refused_until(&self.user_key(user), login, now).await) },
        )
    }

    fn scrape_allowed_at<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>> {
        Box::pin(async move { self.state.explain(self.allowed_at(&self.user_key(user), now).await) })
    }
}

impl Tables {
    async fn copy_of(&self, user: &str, screen_id: &str) -> Result<Option<ScreenCopy>, Failed> {
        // One view of both tables, whatever is kept meanwhile.
        let mut view = self.state.readers().await?.begin().await?;
        let copy = sqlx::query(COPY).bind(user).bind(screen_id);
        let Some(row) = copy.fetch_optional(&mut *view).await? else { return Ok(None) };
        let stocks = sqlx::query(STOCKS).bind(user).bind(screen_id);
        let stocks = stocks.fetch_all(&mut *view).await?;
        Ok(Some(ScreenCopy {
            name: Line::of(row.try_get("name")?),
            stocks: stocks.iter().map(stock).collect::<Result<_, _>>()?,
            scraped_at: instant(row.try_get("scraped_at")?),
        }))
    }

    async fn keep_copy(&self, user: &str, screen_id: &str, copy: &ScreenCopy) -> Result<(), Failed> {
        // There is no second one for a day.
        let mut change = self.state.change(Durability::Power).await?;
        sqlx::query(DROP).bind(user).bind(screen_id).execute(&mut *change).await?;
        let keep = sqlx::query(KEEP).bind(user).bind(screen_id).bind(&*copy.name);
        keep.bind(millis(copy.scraped_at)).execute(&mut *change).await?;
        for (position, stock) in (0_i64..).zip(&copy.stocks) {
            keep_stock(&mut change, user, screen_id, position, stock).await?;
        }
        change.commit().await
    }

    async fn claim(&self, user: &str, now: SystemTime, ends_by: SystemTime) -> Result<Claim, Failed> {
        // No other process looks and claims between this look and this claim; and a claim once used up stays so.
        let mut change = self.state.change(Durability::Power).await?;
        let claimed_at = sqlx::query_scalar(CLAIMED_AT).bind(user);
        if let Some(allowed_at) = allowed_at(claimed_at.fetch_optional(&mut *change).await?, now) {
            let under_way = sqlx::query(UNDER_WAY).bind(user).bind(millis(now));
            let is_under_way = under_way.fetch_optional(&mut *change).await?.is_some();
            return Ok(Claim::Denied { allowed_at, is_under_way });
        }
        let claim = sqlx::query(CLAIM).bind(user).bind(millis(now)).bind(millis(ends_by));
        claim.execute(&mut *change).await?;
        change.commit().await?;
        Ok(Claim::Granted)
    }

    async fn end(&self, user: &str, claimed_at: SystemTime, now: SystemTime) -> Result<(), Failed> {
        // Lost, it is waited for until its deadline.
        let mut change = self.state.change(Durability::Process).await?;
        let end = sqlx::query(END).bind(millis(now)).bind(user).bind(millis(claimed_at));
        end.execute(&mut *change).await?;
        change.commit().await
    }

    async fn under_way(&self, user: &str, now: SystemTime) -> Result<Option<SystemTime>, Failed> {
        let ends_by = sqlx::query_scalar(UNDER_WAY).bind(user).bind(millis(now));
        let ends_by: Option<i64> = ends_by.fetch_optional(self.state.readers().await?).await?;
        Ok(ends_by.map(instant))
    }

    async fn release(&self, user: &str, claimed_at: SystemTime) -> Result<(), Failed> {
        let mut change = self.state.change(Durability::Power).await?;
        sqlx::query(RELEASE).bind(user).bind(millis(claimed_at)).execute(&mut *change).await?;
        change.commit().await
    }

    async fn refuse(&self, user: &str, login: &str, until: SystemTime) -> Result<(), Failed> {
        // Forgotten, it would be tried again, and the site locks accounts.
        let mut change = self.state.change(Durability::Power).await?;
        sqlx::query(FORGIVE).bind(millis(clock::wall())).execute(&mut *change).await?;
        let refuse = sqlx::query(REFUSE).bind(user).bind(login).bind(millis(until));
        refuse.execute(&mut *change).await?;
        change.commit().await
    }

    async fn refused_until(
        &self,
        user: &str,
        login: &str,
        now: SystemTime,
    ) -> Result<Option<SystemTime>, Failed> {
        let until = sqlx::query_scalar(REFUSED).bind(user).bind(login).bind(millis(now));
        let until: Option<i64> = until.fetch_optional(self.state.readers().await?).await?;
        Ok(until.map(instant))
    }

    async fn allowed_at(&self, user: &str, now: SystemTime) -> Result<Option<SystemTime>, Failed> {
        let claimed_at = sqlx::query_scalar(CLAIMED_AT).bind(user);
        Ok(allowed_at(claimed_at.fetch_optional(self.state.readers().await?).await?, now))
    }
}

/// When a scrape is allowed again after the last claim; `None` if now.
fn allowed_at(claimed_at: Option<i64>, now: SystemTime) -> Option<SystemTime> {
    let allowed_at = instant(claimed_at?.saturating_add(length(SCRAPE_INTERVAL)));
    (allowed_at > now).then_some(allowed_at)
}

async fn keep_stock(
    change: &mut Change,
    user: &str,
    screen_id: &str,
    position: i64,
    stock: &ScreenedStock,
) -> Result<(), sqlx::Error> {
    let keep = sqlx::query(KEEP_STOCK)
        .bind(user)
        .bind(screen_id)
        .bind(position)
        .bind(&*stock.symbol)
        .bind(&*stock.name)
        .bind(stock.cmp)
        .bind(stock.pe)
        .bind(stock.market_cap_cr)
        .bind(stock.roe);
    keep.execute(&mut **change).await?;
    Ok(())
}

fn stock(row: &SqliteRow) -> Result<ScreenedStock, sqlx::Error> {
    Ok(ScreenedStock {
        symbol: Identifier::of(row.try_get("symbol")?),
        name: Line::of(row.try_get("name")?),
        cmp: row.try_get("cmp")?,
        pe: row.try_get("pe")?,
        market_cap_cr: row.try_get("market_cap_cr")?,
        roe: row.try_get("roe")?,
    })
}

//! The statements of the tables `screens`, `screened_stocks`, `scrapes` and `refused_logins`. `user` is a
//! [user key](toolwire_state::Partition::user_key).

use std::time::{Duration, SystemTime};

use super::{ScreenCopy, ScreenedStock};
use toolwire_db::{
    Error, Tx, insert, record, select, sql,
    sql::{Connection, FromValue, Statement, Value},
};
use toolwire_sources::upstream::text::{Identifier, Line};

/// A text that was read from a site: it passes the sanitiser again, whose rules may have changed since.
struct Sanitised<T>(T);

impl FromValue for Sanitised<Line> {
    fn from_value(value: Value) -> Option<Self> {
        Some(Self(Line::of(&String::from_value(value)?)))
    }
}

impl FromValue for Sanitised<Identifier> {
    fn from_value(value: Value) -> Option<Self> {
        Some(Self(Identifier::of(&String::from_value(value)?)))
    }
}

record!(ScreenedStock, "screened stock", {
    symbol via Sanitised, name via Sanitised, cmp, pe, market_cap_cr, roe,
});

/// A screen without its stocks.
struct Screen {
    name: Line,
    scraped_at: SystemTime,
}

record!(Screen, "screen", { name via Sanitised, scraped_at });

pub(super) async fn copy(
    db: &mut Connection,
    user: &str,
    screen_id: &str,
) -> Result<Option<ScreenCopy>, Error> {
    // One view of both tables, whatever is kept meanwhile.
    let mut view = sql::view(db).await?;
    let screen = select!(Screen, "FROM screens WHERE user_id = {user} AND screen_id = {screen_id}");
    let Some(Screen { name, scraped_at }) = screen.optional(&mut view).await? else { return Ok(None) };
    let stocks = select!(
        ScreenedStock,
        "FROM screened_stocks WHERE user_id = {user} AND screen_id = {screen_id} ORDER BY position"
    );
    Ok(Some(ScreenCopy { name, stocks: stocks.all(&mut view).await?, scraped_at }))
}

/// Inserts a copy in the place of an earlier one.
pub(super) async fn replace(
    db: &mut Connection,
    user: &str,
    screen_id: &str,
    ScreenCopy { name, stocks, scraped_at }: &ScreenCopy,
) -> Result<(), Error> {
    // With its stocks, which go by the reference.
    sql!("DELETE FROM screens WHERE user_id = {user} AND screen_id = {screen_id}").run(db).await?;
    insert! { screens: user_id = user, screen_id, name = &**name, scraped_at }.run(db).await?;
    for (position, stock) in (0_i64..).zip(stocks) {
        let insert = insert! { screened_stocks:
            user_id = user, screen_id, position, symbol = &*stock.symbol, name = &*stock.name, cmp = stock.cmp,
            pe = stock.pe, market_cap_cr = stock.market_cap_cr, roe = stock.roe,
        };
        insert.run(db).await?;
    }
    Ok(())
}

/// When a user last claimed a scrape.
pub(super) fn claimed_at(user: &str) -> Statement<SystemTime> {
    sql!("SELECT claimed_at FROM scrapes WHERE user_id = {user}")
}

pub(super) fn claim(user: &str, now: SystemTime, ends_by: SystemTime) -> Statement {
    insert! { scrapes: user_id = user, claimed_at = now, ends_by }.and(
        " ON CONFLICT (user_id) DO UPDATE SET claimed_at = excluded.claimed_at, ends_by = excluded.ends_by",
    )
}

/// By when the scrape of a user has ended that is under way.
pub(super) fn under_way(user: &str, now: SystemTime) -> Statement<SystemTime> {
    sql!("SELECT ends_by FROM scrapes WHERE user_id = {user} AND ends_by > {now}")
}

pub(super) fn end_scrape(user: &str, claimed_at: SystemTime, now: SystemTime) -> Statement {
    sql!("UPDATE scrapes SET ends_by = {now} WHERE user_id = {user} AND claimed_at = {claimed_at}")
}

pub(super) fn delete_scrape(user: &str, claimed_at: SystemTime) -> Statement {
    sql!("DELETE FROM scrapes WHERE user_id = {user} AND claimed_at = {claimed_at}")
}

/// Inserts a refused login, and deletes those of all users that may be tried again.
pub(super) async fn refuse_login(tx: &mut Tx, user: &str, login: &str, pause: Duration) -> Result<(), Error> {
    let now = tx.now();
    sql!("DELETE FROM refused_logins WHERE until <= {now}").run(tx).await?;
    let refuse = insert! { refused_logins: user_id = user, login, until = now + pause };
    refuse.and(" ON CONFLICT (user_id, login) DO UPDATE SET until = excluded.until").run(tx).await
}

pub(super) fn refused_until(user: &str, login: &str, now: SystemTime) -> Statement<SystemTime> {
    sql!("SELECT until FROM refused_logins WHERE user_id = {user} AND login = {login} AND until > {now}")
}

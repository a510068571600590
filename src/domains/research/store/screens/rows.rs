//! The statements of the tables `screens`, `screened_stocks`, `scrapes` and `refused_logins`. `user` is a
//! [user key](toolwire_store::Partition::user_key).

use std::time::SystemTime;

use super::{ScreenCopy, ScreenedStock};
use toolwire_sources::upstream::text::{Identifier, Line};
use toolwire_store::{
    Error, record, select, sql,
    sql::{Connection, FromValue, Scalar, Statement, Value},
};

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
    connection: &mut Connection,
    user: &str,
    screen_id: &str,
) -> Result<Option<ScreenCopy>, Error> {
    // One view of both tables, whatever is kept meanwhile.
    let mut view = sql::view(connection).await?;
    let screen = select!(Screen, "FROM screens WHERE user_id = ", user, " AND screen_id = ", screen_id);
    let Some(Screen { name, scraped_at }) = screen.optional(&mut view).await? else { return Ok(None) };
    let mut stocks = Statement::select::<ScreenedStock>("FROM screened_stocks WHERE user_id = ");
    stocks.bind(user).push(" AND screen_id = ").bind(screen_id).push(" ORDER BY position");
    Ok(Some(ScreenCopy { name, stocks: stocks.all(&mut view).await?, scraped_at }))
}

/// Inserts a copy in the place of an earlier one.
pub(super) async fn replace(
    connection: &mut Connection,
    user: &str,
    screen_id: &str,
    copy: &ScreenCopy,
) -> Result<(), Error> {
    // With its stocks, which go by the reference.
    let delete = sql!("DELETE FROM screens WHERE user_id = ", user, " AND screen_id = ", screen_id);
    delete.execute(connection).await?;
    let columns = [
        ("user_id", user.into()),
        ("screen_id", screen_id.into()),
        ("name", (&*copy.name).into()),
        ("scraped_at", copy.scraped_at.into()),
    ];
    Statement::insert("screens", columns).execute(connection).await?;
    for (position, stock) in (0_i64..).zip(&copy.stocks) {
        let columns = [
            ("user_id", user.into()),
            ("screen_id", screen_id.into()),
            ("position", position.into()),
            ("symbol", (&*stock.symbol).into()),
            ("name", (&*stock.name).into()),
            ("cmp", stock.cmp.into()),
            ("pe", stock.pe.into()),
            ("market_cap_cr", stock.market_cap_cr.into()),
            ("roe", stock.roe.into()),
        ];
        Statement::insert("screened_stocks", columns).execute(connection).await?;
    }
    Ok(())
}

/// When a user last claimed a scrape.
pub(super) async fn claimed_at(connection: &mut Connection, user: &str) -> Result<Option<SystemTime>, Error> {
    let claimed_at = sql!("SELECT claimed_at FROM scrapes WHERE user_id = ", user);
    Ok(claimed_at.optional(connection).await?.map(|Scalar(at)| at))
}

pub(super) async fn claim(
    connection: &mut Connection,
    user: &str,
    now: SystemTime,
    ends_by: SystemTime,
) -> Result<(), Error> {
    let claim = sql! {
        "INSERT INTO scrapes (user_id, claimed_at, ends_by) VALUES (", user,
        ", ", now,
        ", ", ends_by,
        ") ON CONFLICT (user_id) DO UPDATE SET claimed_at = excluded.claimed_at, ends_by = excluded.ends_by"
    };
    claim.execute(connection).await?;
    Ok(())
}

/// By when the scrape of a user has ended that is under way.
pub(super) async fn under_way(
    connection: &mut Connection,
    user: &str,
    now: SystemTime,
) -> Result<Option<SystemTime>, Error> {
    let ends_by = sql!("SELECT ends_by FROM scrapes WHERE user_id = ", user, " AND ends_by > ", now);
    Ok(ends_by.optional(connection).await?.map(|Scalar(at)| at))
}

pub(super) async fn end_scrape(
    connection: &mut Connection,
    user: &str,
    claimed_at: SystemTime,
    now: SystemTime,
) -> Result<(), Error> {
    let end = sql! {
        "UPDATE scrapes SET ends_by = ", now,
        " WHERE user_id = ", user,
        " AND claimed_at = ", claimed_at
    };
    end.execute(connection).await?;
    Ok(())
}

pub(super) async fn delete_scrape(
    connection: &mut Connection,
    user: &str,
    claimed_at: SystemTime,
) -> Result<(), Error> {
    sql!("DELETE FROM scrapes WHERE user_id = ", user, " AND claimed_at = ", claimed_at)
        .execute(connection)
        .await?;
    Ok(())
}

/// Inserts a refused login, and deletes those of all users that may be tried again.
pub(super) async fn refuse_login(
    connection: &mut Connection,
    user: &str,
    login: &str,
    until: SystemTime,
    now: SystemTime,
) -> Result<(), Error> {
    sql!("DELETE FROM refused_logins WHERE until <= ", now).execute(connection).await?;
    let refuse = sql! {
        "INSERT INTO refused_logins (user_id, login, until) VALUES (", user,
        ", ", login,
        ", ", until,
        ") ON CONFLICT (user_id, login) DO UPDATE SET until = excluded.until"
    };
    refuse.execute(connection).await?;
    Ok(())
}

pub(super) async fn refused_until(
    connection: &mut Connection,
    user: &str,
    login: &str,
    now: SystemTime,
) -> Result<Option<SystemTime>, Error> {
    let until = sql! {
        "SELECT until FROM refused_logins WHERE user_id = ", user,
        " AND login = ", login,
        " AND until > ", now
    };
    Ok(until.optional(connection).await?.map(|Scalar(at)| at))
}

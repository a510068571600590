//! The table `cool_downs`, in which the empty user stands for all users.

use std::time::SystemTime;

use crate::{
    Error,
    cool_downs::CoolDown,
    select,
    sql::{Connection, FromRow, Row, Statement, record},
};
use toolwire_contract::ErrorCode;
use toolwire_tool::context::UserId;

impl FromRow for CoolDown {
    fn columns() -> Vec<&'static str> {
        vec!["code", "reason", "until"]
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        // A source that refused us for a reason that is not known here is left alone all the same.
        let code = row.get::<String>("code")?.parse().unwrap_or(ErrorCode::Blocked);
        Ok(Self { code, reason: row.get("reason")?, until: row.get("until")? })
    }
}

struct OfSource {
    source: String,
    cool_down: CoolDown,
}

record!(OfSource, "cool-down", { source, cool_down: .. });

/// The one of a source that ends last, among those of a user and of all users, if it ends after an instant.
pub(crate) async fn longest(
    connection: &mut Connection,
    source: &str,
    user: &UserId,
    now: SystemTime,
) -> Result<Option<CoolDown>, Error> {
    let longest = select! {
        CoolDown, "FROM cool_downs WHERE source = ", source,
        " AND user_id IN ('', ", user,
        ") AND until > ", now,
        " ORDER BY until DESC LIMIT 1"
    };
    longest.optional(connection).await
}

/// Those of all users that end after an instant, in order of source.
pub(crate) async fn list(
    connection: &mut Connection,
    now: SystemTime,
) -> Result<Vec<(String, CoolDown)>, Error> {
    let list = select!(OfSource, "FROM cool_downs WHERE user_id = '' AND until > ", now, " ORDER BY source");
    Ok(list.all(connection).await?.into_iter().map(|it: OfSource| (it.source, it.cool_down)).collect())
}

/// Sets the one of a source and a user, unless there is one that ends later.
pub(crate) async fn put(
    connection: &mut Connection,
    source: &str,
    user: Option<&UserId>,
    cool_down: &CoolDown,
) -> Result<(), Error> {
    let columns = [
        ("source", source.into()),
        ("user_id", user.map_or("", UserId::as_str).into()),
        ("code", cool_down.code.into_str().into()),
        ("reason", (&cool_down.reason).into()),
        ("until", cool_down.until.into()),
    ];
    let mut put = Statement::insert("cool_downs", columns);
    put.push(" ON CONFLICT (source, user_id) DO UPDATE SET code = excluded.code, reason = excluded.reason");
    put.push(", until = excluded.until WHERE excluded.until >= cool_downs.until");
    put.execute(connection).await?;
    Ok(())
}

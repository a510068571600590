//! The table `cool_downs`, in which the empty user stands for all users.

use std::time::SystemTime;

use crate::cool_downs::CoolDown;
use toolwire_contract::ErrorCode;
use toolwire_db::{
    Error,
    sql::{FromRow, Row, Statement, insert, record, select},
};
use toolwire_tool::context::UserId;

impl FromRow for CoolDown {
    fn columns() -> Vec<&'static str> {
        vec!["code", "reason", "until"]
    }

    fn from_row(row: &Row) -> Result<Self, Error> {
        // A code of a newer version is unknown here; the cool-down applies all the same.
        let code = row.get::<String>("code")?.parse().unwrap_or(ErrorCode::Blocked);
        Ok(Self { code, reason: row.get("reason")?, until: row.get("until")? })
    }
}

pub(crate) struct SourceCoolDown {
    pub(crate) source: String,
    pub(crate) cool_down: CoolDown,
}

record!(SourceCoolDown, "cool-down", { source, cool_down: .. });

/// The cool-down of a source that ends last, among those of a user and of all users, if it ends after an instant.
pub(crate) fn longest(source: &str, user: &UserId, now: SystemTime) -> Statement<CoolDown> {
    select!(
        CoolDown,
        "FROM cool_downs WHERE source = {source} AND user_id IN ('', {user}) AND until > {now}
         ORDER BY until DESC LIMIT 1"
    )
}

/// The cool-downs of all users that end after an instant, in order of source.
pub(crate) fn list(now: SystemTime) -> Statement<SourceCoolDown> {
    select!(SourceCoolDown, "FROM cool_downs WHERE user_id = '' AND until > {now} ORDER BY source")
}

/// Sets the cool-down of a source and a user, unless there is one that ends later.
pub(crate) fn put(
    source: &str,
    user: Option<&UserId>,
    CoolDown { code, reason, until }: &CoolDown,
) -> Statement {
    let user_id = user.map_or("", UserId::as_str);
    insert! { cool_downs: source, user_id, code = code.into_str(), reason, until }.and(
        " ON CONFLICT (source, user_id) DO UPDATE SET code = excluded.code, reason = excluded.reason,
          until = excluded.until WHERE excluded.until >= cool_downs.until",
    )
}

//! The table `hold_offs`.

use std::time::SystemTime;

use crate::hold_offs::HoldOff;
use toolwire_db::sql::{Statement, insert, record, select};

record!(HoldOff, "hold-off", { reason, until });

pub(crate) struct NamedHoldOff {
    pub(crate) name: String,
    pub(crate) hold_off: HoldOff,
}

record!(NamedHoldOff, "hold-off", { name, hold_off: .. });

/// The hold-offs of a source and its parts that end after an instant, in order of name.
pub(crate) fn list(source: &str, now: SystemTime) -> Statement<NamedHoldOff> {
    let part = format!("{source}/");
    select!(
        NamedHoldOff,
        "FROM hold_offs WHERE (name = {source} OR substr(name, 1, {part.chars().count()}) = {&part}) AND until > {now}
         ORDER BY name"
    )
}

/// Sets the hold-off of a name, unless there is one that ends later.
pub(crate) fn put(name: &str, HoldOff { reason, until }: &HoldOff) -> Statement {
    insert! { hold_offs: name, reason, until }.and(
        " ON CONFLICT (name) DO UPDATE SET reason = excluded.reason, until = excluded.until
          WHERE excluded.until >= hold_offs.until",
    )
}

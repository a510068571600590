//! The table `hold_offs`.

use std::time::SystemTime;

use crate::{
    Error,
    hold_offs::HoldOff,
    select,
    sql::{Connection, Statement, record},
};

record!(HoldOff, "hold-off", { reason, until });

struct Named {
    name: String,
    hold_off: HoldOff,
}

record!(Named, "hold-off", { name, hold_off: .. });

/// Those of a source and its parts that end after an instant, in order of name.
pub(crate) async fn list(
    connection: &mut Connection,
    source: &str,
    now: SystemTime,
) -> Result<Vec<(String, HoldOff)>, Error> {
    let part = format!("{source}/");
    let list = select! {
        Named, "FROM hold_offs WHERE (name = ", source,
        " OR substr(name, 1, ", part.chars().count(), ") = ", &part,
        ") AND until > ", now,
        " ORDER BY name"
    };
    Ok(list.all(connection).await?.into_iter().map(|it: Named| (it.name, it.hold_off)).collect())
}

/// Sets the one of a name, unless there is one that ends later.
pub(crate) async fn put(connection: &mut Connection, name: &str, hold_off: &HoldOff) -> Result<(), Error> {
    let columns =
        [("name", name.into()), ("reason", (&hold_off.reason).into()), ("until", hold_off.until.into())];
    let mut put = Statement::insert("hold_offs", columns);
    put.push(" ON CONFLICT (name) DO UPDATE SET reason = excluded.reason, until = excluded.until");
    put.push(" WHERE excluded.until >= hold_offs.until");
    put.execute(connection).await?;
    Ok(())
}

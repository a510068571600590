//! The table `task_secret`, which has one row.

use toolwire_db::sql::{Statement, sql};

pub(crate) fn get() -> Statement<Vec<u8>> {
    sql!("SELECT secret FROM task_secret")
}

//! The table `task_secret`, which has one row.

use crate::sql::{Statement, sql};

pub(crate) fn get() -> Statement<Vec<u8>> {
    sql!("SELECT secret FROM task_secret")
}

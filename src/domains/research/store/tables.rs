//! The tables of research in the state file, and what brings them up to date (`migrations/research/`).
//!
//! Not here: what is in them, which is in the files beside it.

use std::sync::Arc;

use toolwire_db::Migrations;
use toolwire_state::{Partition, Store};
use toolwire_tool::context::UserId;

/// Copies of screens and watch-lists in the state file.
#[derive(Clone, Debug)]
pub struct Tables {
    pub(super) store: Arc<Store>,
    partition: Partition,
}

impl Tables {
    /// Those of live or of embedded sources, which never meet. The store must have been made with [`migrations`].
    pub fn new(store: Arc<Store>, partition: Partition) -> Self {
        Self { store, partition }
    }

    /// What a user's rows have in their column `user_id`.
    pub(super) fn user_key(&self, user: &UserId) -> String {
        self.partition.user_key(user)
    }
}

/// What makes the tables.
pub fn migrations() -> Migrations {
    let tables = &["refused_logins", "scrapes", "screened_prices", "screened_stocks", "screens", "watchlist"];
    Migrations::of_domain("research", tables, sqlx::migrate!("./migrations/research"))
        .with_postgres(sqlx::migrate!("./migrations/research/postgres"))
}

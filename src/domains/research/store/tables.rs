//! The tables of research in the state file, and what brings them up to date (`migrations/research/`).
//!
//! Not here: what is in them, which is in the file of each trait.

use std::sync::Arc;

use toolwire_store::sqlite::{Migrations, Partition, Sqlite};
use toolwire_tool::context::UserId;

/// Copies of screens and watch-lists in the state file.
#[derive(Clone, Debug)]
pub struct Tables {
    pub(super) state: Arc<Sqlite>,
    partition: Partition,
}

impl Tables {
    /// Those of live or of embedded sources, which never meet. The state must have been made with [`migrations`].
    pub fn new(state: Arc<Sqlite>, partition: Partition) -> Self {
        Self { state, partition }
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
}

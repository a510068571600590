//! One immutable state of the brokerage: every user's data and the facts.

use std::{collections::BTreeMap, sync::Arc};

use super::{facts::Facts, master::Master};
use crate::{context::UserId, contract::ToolError};

/// What the tools read. It never changes; a reload makes another one.
#[derive(Clone, Debug)]
pub struct Data {
    /// The default user's.
    pub(super) master: Arc<Master>,
    /// Every user's, the default one's included.
    pub(super) users: BTreeMap<UserId, Arc<Master>>,
    pub(super) facts: Facts,
    pub(super) digest: String,
}

impl Data {
    /// The data of a user; never another user's.
    pub fn user(&self, user: &UserId) -> Result<&Master, ToolError> {
        let master = self.users.get(user).map(Arc::as_ref);
        master.ok_or_else(|| ToolError::not_found(format!("No brokerage data for user {user}")))
    }

    /// The educational snippets, the same for every user.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The date of what belongs to no user; empty if the default user's file has none.
    pub fn as_of(&self) -> &str {
        self.master.as_of().map_or("", |as_of| as_of.as_str())
    }

    /// Identifies this state: SHA-256 in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

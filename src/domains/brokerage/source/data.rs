//! One immutable state of the brokerage: every user's data and the facts.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    facts::{Fact, Facts},
    master::Master,
};
use toolwire_contract::{Provenance, ToolError};
use toolwire_tool::context::UserId;

/// The warning to readers of data whose file is broken or gone.
const STALE: &str = "The file of this data is broken or gone. This is its last good content, which newer data may contradict.";

/// The data of the tools. It never changes; a reload makes a new value.
#[derive(Clone, Debug)]
pub struct Data {
    pub(super) master: Arc<Master>,
    /// Every user's, the default one's included.
    pub(super) users: BTreeMap<UserId, Arc<Master>>,
    pub(super) facts: Facts,
    pub(super) digest: String,
    /// The users whose file is broken or gone: what is here is its last good content.
    pub(super) stale_users: BTreeSet<UserId>,
    /// The names of the facts of which the same holds.
    pub(super) stale_facts: BTreeSet<String>,
    /// What is to be done for a user without data.
    pub(super) absence: String,
}

impl Data {
    /// The data of a user; never another user's.
    pub fn user(&self, user: &UserId) -> Result<&Master, ToolError> {
        let master = self.users.get(user).map(Arc::as_ref);
        master.ok_or_else(|| {
            ToolError::not_found(format!("No brokerage data for user {user}. {}", self.absence))
        })
    }

    /// Where data of a user comes from; says so if it is not what the file holds now.
    pub fn provenance(&self, user: &UserId, source_id: &str, as_of: &str) -> Provenance {
        with_warning(Provenance::of(source_id, as_of), self.stale_users.contains(user))
    }

    /// Where a snippet comes from; says so if it is not what the file holds now.
    pub fn provenance_of(&self, fact: &Fact, source_id: &str) -> Provenance {
        with_warning(Provenance::of(source_id, self.as_of()), self.stale_facts.contains(&fact.file_name))
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

    /// Whether the content is the same, and as good.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let parts = |data: &Self| (data.digest.clone(), data.stale_users.clone(), data.stale_facts.clone());
        parts(self) == parts(other)
    }

    /// Whether any file is broken or gone.
    pub fn is_stale(&self) -> bool {
        !self.stale_users.is_empty() || !self.stale_facts.is_empty()
    }
}

fn with_warning(provenance: Provenance, is_stale: bool) -> Provenance {
    let warnings = is_stale.then(|| STALE.to_owned()).into_iter().collect();
    Provenance { warnings, ..provenance }
}

//! Cool-downs: until when no request is sent to a source that refused one. They outlive the process.

mod memory;
pub(crate) mod rows;
pub(crate) mod write_through;

pub use self::{memory::MemoryCoolDowns, write_through::RememberedCoolDowns};

use std::{fmt::Debug, time::SystemTime};

use futures_util::future::BoxFuture;

use toolwire_base::clock;
use toolwire_contract::ErrorCode;
use toolwire_db::StoreError;
use toolwire_tool::context::UserId;

/// A period without requests to a source, and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoolDown {
    /// `AUTH_FAILED` or `BLOCKED`.
    pub code: ErrorCode,
    /// What the source did, in words for the agent.
    pub reason: String,
    /// When requests may be sent again.
    pub until: SystemTime,
}

/// A store of cool-downs. One without a user applies to all users.
pub trait CoolDowns: Send + Sync + Debug {
    /// The time by the clock of the store.
    fn now(&self) -> SystemTime {
        clock::wall()
    }
    /// The cool-down that applies to requests of the user: that of the source or that of the user, whichever ends
    /// later.
    fn in_force<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<CoolDown>, StoreError>>;
    /// Begins a cool-down. It never shortens an earlier one of the same source and user.
    fn begin<'a>(
        &'a self,
        source: &'a str,
        user: Option<&'a UserId>,
        cool_down: &'a CoolDown,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    /// The cool-downs that apply to all users at the given time, by source.
    fn of_sources(&self, now: SystemTime) -> BoxFuture<'_, Result<Vec<(String, CoolDown)>, StoreError>>;
}

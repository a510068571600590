//! Cool-downs: how long a source is left alone after it refused us. They outlive the process (spec 004 §5.1).

use std::{fmt::Debug, time::SystemTime};

use futures_util::future::BoxFuture;

use super::StoreError;
use toolwire_contract::ErrorCode;
use toolwire_tool::context::UserId;

/// Why and until when a source is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoolDown {
    /// `AUTH_FAILED` or `BLOCKED`.
    pub code: ErrorCode,
    /// What the source did, in words for the agent.
    pub reason: String,
    /// When it may be asked again.
    pub until: SystemTime,
}

/// Remembers cool-downs. One without a user holds for all users.
pub trait CoolDowns: Send + Sync + Debug {
    /// The cool-down in force for requests of the user: the source's own, or else the user's, whichever ends later.
    fn in_force<'a>(
        &'a self,
        source: &'a str,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<CoolDown>, StoreError>>;
    /// Begins one; an earlier one of the same source and user ends no sooner than before.
    fn begin<'a>(
        &'a self,
        source: &'a str,
        user: Option<&'a UserId>,
        cool_down: &'a CoolDown,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Those that hold for all users at the given time, by source.
    fn of_sources(&self, now: SystemTime) -> BoxFuture<'_, Result<Vec<(String, CoolDown)>, StoreError>>;
}

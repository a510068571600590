//! Reservations of requests to sources, past and future, shared by the processes of a state.
//!
//! Calls that are counted against a quota of their user are reservations too. Not here: the choice of the instant,
//! which the rate limiter makes.

pub(crate) mod rows;

use std::{
    cmp::Reverse,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use toolwire_tool::context::UserId;

/// The beginning of the names under which calls are counted, one of each user's, unlike those of sources.
pub const QUOTA_PREFIX: &str = "quota:";
/// What sorts behind every such name.
pub(crate) const BEHIND_QUOTAS: &str = "quota;";

/// A limit that is reached is used to this share.
pub(crate) const SHARE: u64 = 1_000_000;

/// Nanoseconds since the Unix epoch.
pub type Nanos = u64;

/// An instant of the state's clock.
pub fn since_epoch(instant: SystemTime) -> Nanos {
    nanos(instant.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// The instant of the state's clock.
pub fn instant(at: Nanos) -> SystemTime {
    UNIX_EPOCH + Duration::from_nanos(at)
}

/// A length of time in nanoseconds; centuries at most.
pub fn nanos(length: Duration) -> Nanos {
    Nanos::try_from(length.as_nanos()).unwrap_or(Nanos::MAX)
}

/// A request, past or future.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservation {
    pub user: UserId,
    pub at: Nanos,
}

/// A limit of reservations that count alike.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The name under which they are counted.
    pub name: String,
    pub most: u32,
    /// How long one counts after its instant.
    pub window: Nanos,
    /// How long after the present the instant of a new one is.
    pub ahead: Nanos,
}

/// A limit that each of many users has. The reservations of each user count under a name of their own: that of the
/// group, and the user.
#[derive(Clone, Debug)]
pub struct LimitOfEach {
    /// What all names begin with, without the colon before the user.
    pub group: String,
    pub most: u32,
    /// How long a reservation counts after its instant.
    pub window: Nanos,
}

/// What is reserved under a limit that each of many users has, by one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    pub user: UserId,
    /// The name under which the reservations count.
    pub name: String,
    /// How many count now.
    pub count: u32,
    /// The share of the limit that is used, in millionths.
    pub share: u64,
    /// The instant of the oldest reservation; of more than the limit allows, that of the last one that must leave the
    /// window before there is room.
    pub first: Nanos,
}

/// A place in a list of uses: the fullest first, then by user and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsePlace {
    pub share: Reverse<u64>,
    pub user: String,
    pub name: String,
}

impl LimitOfEach {
    /// The name under which the reservations of a user count.
    pub fn name_of(&self, user: &UserId) -> String {
        format!("{}:{user}", self.group)
    }
}

impl Use {
    pub fn place(&self) -> UsePlace {
        UsePlace { share: Reverse(self.share), user: self.user.to_string(), name: self.name.clone() }
    }
}

/// A limit of several that is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Its place among them.
    pub index: usize,
    /// When it was reached.
    pub now: Nanos,
    /// When there is room again, unless a reservation is cancelled before.
    pub free_at: Nanos,
}

/// Chooses the instant of a new request, given the existing reservations and the time; `None` if the request must not
/// be made. May be called more than once for one request: the last result counts.
pub type Choose<'a> = dyn Fn(&[Reservation], Nanos) -> Option<Nanos> + Send + Sync + 'a;

//! Copies of Screener.in screens, and when each user's were last scraped: at most once a day, also across processes and
//! restarts.

mod rows;
mod sqlite;

use std::{
    fmt::Debug,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;

use toolwire_base::clock;
use toolwire_db::StoreError;
use toolwire_sources::upstream::text::{Identifier, Line};
use toolwire_tool::context::UserId;

/// Minimum interval between two scrapes for a user.
pub const SCRAPE_INTERVAL: Duration = Duration::from_hours(24);

#[derive(Clone, Debug, PartialEq)]
pub struct ScreenCopy {
    pub name: Line,
    /// The stocks, in the order of the screen.
    pub stocks: Vec<ScreenedStock>,
    /// When the screen was scraped.
    pub scraped_at: SystemTime,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ScreenedStock {
    /// Symbol on the National Stock Exchange.
    pub symbol: Identifier,
    pub name: Line,
    /// Current market price in rupees.
    pub cmp: f64,
    pub pe: Option<f64>,
    /// Market capitalisation in crore rupees.
    pub market_cap_cr: f64,
    /// Return on equity in percent.
    pub roe: Option<f64>,
}

/// Whether a scrape may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It may: no other claim is granted before the interval has passed since this instant.
    Granted(SystemTime),
    /// It may not before this instant.
    Denied {
        /// When a scrape is allowed again.
        allowed_at: SystemTime,
        /// Whether the scrape that was granted is still running.
        is_under_way: bool,
    },
}

/// Keeps copies of screens.
pub trait Screens: Send + Sync + Debug {
    /// The time by the clock of the store.
    fn now(&self) -> SystemTime {
        clock::wall()
    }
    /// The last copy of a user's screen, however old.
    fn copy<'a>(
        &'a self,
        user: &'a UserId,
        screen_id: &'a str,
    ) -> BoxFuture<'a, Result<Option<ScreenCopy>, StoreError>>;
    fn keep<'a>(
        &'a self,
        user: &'a UserId,
        screen_id: &'a str,
        copy: &'a ScreenCopy,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Claims the user's one scrape of the last 24 h, which ends within `time_limit`. One transaction, so that two
    /// processes are never both granted.
    fn claim_scrape<'a>(
        &'a self,
        user: &'a UserId,
        time_limit: Duration,
    ) -> BoxFuture<'a, Result<Claim, StoreError>>;
    /// Records that a claimed scrape has ended.
    fn end_scrape<'a>(
        &'a self,
        user: &'a UserId,
        claimed_at: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    /// The latest end of the user's scrape that is under way, in any process; `None` if none is.
    fn scrape_under_way<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>>;
    /// Releases the claim of a scrape that read nothing.
    fn release_scrape<'a>(
        &'a self,
        user: &'a UserId,
        claimed_at: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Records that a login of the user's was refused, and is not tried again for a while. `login` is a digest that
    /// reveals nothing of it.
    fn refuse_login<'a>(
        &'a self,
        user: &'a UserId,
        login: &'a str,
        pause: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    /// The instant until which a refused login is not tried again; `None` if it may be.
    fn login_refused_until<'a>(
        &'a self,
        user: &'a UserId,
        login: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>>;
    /// The instant of the user's next scrape; `None` if it may begin now.
    fn scrape_allowed_at<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>>;
}

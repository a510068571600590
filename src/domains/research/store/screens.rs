//! Copies of Screener.in screens, and when each user's were last scraped: at most once a day, also across processes and
//! restarts (spec 004 §3.0).

mod rows;
mod sqlite;

use std::{
    fmt::Debug,
    time::{Duration, SystemTime},
};

use futures_util::future::BoxFuture;

use toolwire_sources::upstream::text::{Identifier, Line};
use toolwire_store::StoreError;
use toolwire_tool::context::UserId;

/// A user's screens are scraped no more often (spec 004 §3.0).
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
    /// It may: no other caller gets one before the interval has passed.
    Granted,
    /// It may not before this instant.
    Denied {
        /// When a scrape is allowed again.
        allowed_at: SystemTime,
        /// Whether the one that was granted has not ended yet.
        is_under_way: bool,
    },
}

/// Keeps copies of screens.
pub trait Screens: Send + Sync + Debug {
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
    /// Asks for the user's one scrape of the 24 h before `now`, which will have ended by `ends_by` whatever becomes of
    /// it; granting and recording it is one step.
    fn claim_scrape<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
        ends_by: SystemTime,
    ) -> BoxFuture<'a, Result<Claim, StoreError>>;
    /// Records that a claimed scrape has ended.
    fn end_scrape<'a>(
        &'a self,
        user: &'a UserId,
        claimed_at: SystemTime,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    /// By when the user's scrape that is under way has ended, in whichever process it is; `None` if none is.
    fn scrape_under_way<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>>;
    /// Gives a claim back that came to nothing.
    fn release_scrape<'a>(
        &'a self,
        user: &'a UserId,
        claimed_at: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Remembers that a login of the user's was refused. `login` is a digest that says nothing of it.
    fn refuse_login<'a>(
        &'a self,
        user: &'a UserId,
        login: &'a str,
        until: SystemTime,
    ) -> BoxFuture<'a, Result<(), StoreError>>;
    /// Until when a login of the user's is not tried again; `None` if it may be.
    fn login_refused_until<'a>(
        &'a self,
        user: &'a UserId,
        login: &'a str,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>>;
    /// When the user may scrape again; `None` if now.
    fn scrape_allowed_at<'a>(
        &'a self,
        user: &'a UserId,
        now: SystemTime,
    ) -> BoxFuture<'a, Result<Option<SystemTime>, StoreError>>;
}

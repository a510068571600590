//! What a call gets of a screen, and how old it is.

use std::time::{Duration, SystemTime};

use crate::store::screens::ScreenCopy;

/// How long a copy is fresh.
const FRESH: Duration = Duration::from_hours(24);

/// The stocks of a screen, and how they came.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenResult {
    pub copy: ScreenCopy,
    /// Whether they were scraped for this very call, or else how old the copy is.
    pub freshness: Freshness,
    /// What a reader of the copy should know.
    pub warnings: Vec<String>,
}

/// How a copy came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It was scraped for this call.
    Scraped,
    /// It was there, and is so old.
    Kept(Duration),
}

impl ScreenResult {
    pub(super) fn from_copy(copy: ScreenCopy, now: SystemTime) -> Self {
        // One from the future is as old as the clock that was set back.
        let age = now.duration_since(copy.scraped_at).unwrap_or_default();
        Self { copy, freshness: Freshness::Kept(age), warnings: Vec::new() }
    }

    pub(super) fn is_fresh(&self) -> bool {
        matches!(self.freshness, Freshness::Kept(age) if age < FRESH)
    }
}

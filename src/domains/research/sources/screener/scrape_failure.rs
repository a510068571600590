//! Why a screen was not scraped: as a warning beside an older copy, or as the failure of a call that has none.

use std::time::{Duration, SystemTime};

use super::PROFILE;
use crate::store::screens::ScreenCopy;
use toolwire_base::clock::{self, rfc3339};
use toolwire_contract::{ErrorCode, Origin, ToolError};
use toolwire_db::StoreError;
use toolwire_sources::upstream::http::{Failure, FailureKind};
use toolwire_state::cool_downs::CoolDown;

/// Why a screen was not scraped.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ScrapeFailure {
    /// The user's scrape of the day is spent.
    NotYet {
        /// When the next one is allowed.
        allowed_at: SystemTime,
    },
    NoCredentials,
    Failed(Failure),
}

impl ScrapeFailure {
    /// The call has no time for a scrape, or no more.
    pub(super) fn out_of_time() -> Self {
        Failure::new(FailureKind::OutOfTime, "no time is left for a scrape").into()
    }

    /// The call would have ended before anything was fetched.
    pub(super) fn too_short(least_time: Duration) -> Self {
        let message = format!(
            "Screener.in was not asked: that takes at least {}. Call again with a longer deadline.",
            clock::wait_in_words(least_time)
        );
        Failure::new(FailureKind::OutOfTime, "too little time for a scrape").with_message(message).into()
    }

    /// The source is left alone for now.
    pub(super) fn resting(cool_down: CoolDown) -> Self {
        let kind = match cool_down.code {
            ErrorCode::AuthFailed => FailureKind::AuthFailed,
            _ => FailureKind::Blocked,
        };
        let left = cool_down.until.duration_since(clock::wall()).ok();
        Failure::new(kind, "in a cool-down").with_message(cool_down.reason).with_retry_after(left).into()
    }

    /// These credentials were refused a while ago.
    pub(super) fn refused(until: SystemTime) -> Self {
        let message = format!(
            "Screener.in refused these credentials, so it is not asked with them before {}. Sign in with the right ones, with \
             SetScreenerCredentials.",
            when(until)
        );
        let left = until.duration_since(clock::wall()).ok();
        Failure::new(FailureKind::AuthFailed, "these credentials were refused before")
            .with_message(message)
            .with_retry_after(left)
            .into()
    }

    /// Without the record of the day's scrape none may begin.
    pub(super) fn of_store(error: &StoreError) -> Self {
        let message = "Nothing can be kept now, so Screener.in is not asked. Try again later.";
        Failure::new(FailureKind::Down, error.to_string()).with_message(message).into()
    }

    /// The warning that goes with an older copy.
    pub(super) fn warning(&self, copy: &ScreenCopy) -> String {
        let copied = rfc3339(copy.scraped_at);
        match self {
            Self::NotYet { allowed_at } => format!(
                "This is the copy of {copied}. Screens are scraped at most once a day; a refresh is allowed from {} on.",
                when(*allowed_at)
            ),
            Self::NoCredentials | Self::Failed(_) => {
                format!("This is the copy of {copied}, since it could not be refreshed. {}", self.brief())
            }
        }
    }

    /// Code and words in one line.
    pub(super) fn brief(&self) -> String {
        self.error().to_string()
    }

    /// The failure of a call that has no copy.
    pub(super) fn error(&self) -> ToolError {
        match self {
            Self::NotYet { allowed_at } => not_yet(*allowed_at),
            Self::NoCredentials => {
                let message =
                    "This session has no Screener.in credentials. Sign in with SetScreenerCredentials.";
                ToolError::new(ErrorCode::AuthFailed, message).with_origin(Origin::Service)
            }
            Self::Failed(failure) => failure.clone().into(),
        }
    }
}

impl From<Failure> for ScrapeFailure {
    fn from(failure: Failure) -> Self {
        Self::Failed(Failure { source_title: PROFILE.title, ..failure })
    }
}

/// `2026-01-16T10:00:00Z (in 23 h)`.
fn when(instant: SystemTime) -> String {
    let left = instant.duration_since(clock::wall()).unwrap_or_default();
    format!("{} (in {})", rfc3339(instant), clock::wait_in_words(left))
}

fn not_yet(allowed_at: SystemTime) -> ToolError {
    let message = format!(
        "Screens are scraped at most once a day, and there is no copy of this one yet. A scrape is allowed from {} \
         on.",
        when(allowed_at)
    );
    let left = allowed_at.duration_since(clock::wall()).unwrap_or_default();
    ToolError::new(ErrorCode::RateLimited, message).with_origin(Origin::Service).with_retry_after(left)
}

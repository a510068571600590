//! What only Reddit's answers say: an error within a 200, limits in headers of its own, and subreddits that are closed.

use http::{StatusCode, header};
use serde::Deserialize;

use super::{budget, token};
use toolwire_sources::upstream::{
    http::{Answer, Failure, FailureKind},
    text::Line,
};

/// `{"reason": "private", "message": "Forbidden", "error": 403}`
#[derive(Deserialize)]
struct Refusal {
    reason: Line,
}

/// The failure that an answer stands for, if it is Reddit's own.
pub(super) fn check(answer: &Answer) -> Option<Failure> {
    match answer.status {
        StatusCode::OK => token::refusal(answer),
        StatusCode::TOO_MANY_REQUESTS => {
            let failure = Failure::new(FailureKind::RateLimited, "HTTP 429");
            Some(failure.with_retry_after(answer.retry_after().or_else(|| budget::reset(answer))))
        }
        // A request for a missing subreddit is redirected to the search for one.
        status if status.is_redirection() => {
            let missing = || Failure::new(FailureKind::NotFound, "redirected to the search");
            leads_to_search(answer).then(missing)
        }
        // Closed to every reader: that does not mean that we are blocked.
        StatusCode::FORBIDDEN => {
            let refusal: Refusal = answer.json().ok()?;
            matches!(&*refusal.reason, "private" | "quarantined" | "gold_only" | "banned")
                .then(|| Failure::new(FailureKind::NotFound, format!("the subreddit is {}", refusal.reason)))
        }
        _ => None,
    }
}

fn leads_to_search(answer: &Answer) -> bool {
    let location = answer.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
    let target = location.and_then(|location| answer.url.join(location).ok());
    target.is_some_and(|it| it.path().ends_with("/search") && !it.path().contains("/r/"))
}

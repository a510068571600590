//! What only Discourse's answers say: limits in JSON, and refusals that concern one topic rather than us.

use std::time::Duration;

use serde::Deserialize;

use toolwire_sources::upstream::{
    http::{Answer, Failure, FailureKind},
    text::Line,
};

/// `{"errors": […], "error_type": "rate_limit", "extras": {"wait_seconds": 11}}`
#[derive(Deserialize)]
struct Refusal {
    error_type: Line,
    #[serde(default)]
    extras: Extras,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Extras {
    wait_seconds: Option<f64>,
}

/// The failure that an answer stands for, if it is Discourse's own.
pub(super) fn check(answer: &Answer) -> Option<Failure> {
    if answer.status.is_success() {
        return None;
    }
    // The plain text that a proxy or the middleware sends names the limit in a header.
    if let Some(limit) = answer.headers.get("discourse-rate-limit-error-code") {
        let failure = Failure::new(FailureKind::RateLimited, format!("limit {limit:?}"));
        return Some(failure.with_retry_after(answer.retry_after()));
    }
    let refusal: Refusal = answer.json().ok()?;
    let failure = |kind| Failure::new(kind, format!("HTTP {}, {}", answer.status, refusal.error_type));
    match &*refusal.error_type {
        "rate_limit" => {
            let stated = refusal.extras.wait_seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
            Some(failure(FailureKind::RateLimited).with_retry_after(stated.or_else(|| answer.retry_after())))
        }
        // A private or removed topic: the 403 that says so does not mean that we are blocked.
        "not_found" | "invalid_access" => Some(failure(FailureKind::NotFound)),
        _ => None,
    }
}

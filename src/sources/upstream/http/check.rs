//! Checks of an answer that hold for every source. A 200 is never trusted: the body is examined first.
//!
//! Not here: what only one source's answers mean: its profile's `check` runs first.

use http::StatusCode;

use super::{Answer, ExpectedBody, Failure, FailureKind, Outgoing, Profile, block_page::is_block_page};
use toolwire_base::retry_after;

pub(super) fn check(profile: &Profile, outgoing: &Outgoing, answer: Answer) -> Result<Answer, Failure> {
    if outgoing.accepts(&answer) {
        return Ok(answer);
    }
    match (profile.check)(&answer).or_else(|| by_common_rules(outgoing, &answer)) {
        Some(failure) => Err(with_wait(failure, &answer)),
        None => Ok(answer),
    }
}

/// A failure that asks for a pause carries its length, whichever check found it.
fn with_wait(failure: Failure, answer: &Answer) -> Failure {
    let asks_for_pause = matches!(failure.kind, FailureKind::RateLimited | FailureKind::Down);
    let stated = failure.retry_after.or_else(|| answer.retry_after().filter(|_| asks_for_pause));
    failure.with_retry_after(stated.map(|wait| wait.min(retry_after::LONGEST)))
}

fn by_common_rules(outgoing: &Outgoing, answer: &Answer) -> Option<Failure> {
    let status = answer.status;
    if status == StatusCode::TOO_MANY_REQUESTS || says_too_many(answer) {
        return Some(Failure::new(FailureKind::RateLimited, describe(answer)));
    }
    let kind = match status.as_u16() {
        200..=299 => of_page(outgoing.expected, answer)?,
        // The client follows it, within bounds.
        _ if outgoing.is_redirected_by(answer) => return None,
        401 => FailureKind::AuthFailed,
        403 | 451 => FailureKind::Blocked,
        404 | 410 => FailureKind::NotFound,
        408 => FailureKind::TimedOut,
        500..=599 => FailureKind::Down,
        _ => FailureKind::Malformed,
    };
    Some(Failure::new(kind, describe(answer)))
}

/// The form of an answer, for operators. None of its content, which may be secret.
fn describe(answer: &Answer) -> String {
    let media_type: String = answer.media_type().chars().take(64).collect();
    format!("HTTP {}, {} bytes of {media_type:?}", answer.status.as_u16(), answer.body.len())
}

/// The kind of failure that an HTML page is if another type was expected: a refusal only if it is a known block page.
fn of_page(expected: ExpectedBody, answer: &Answer) -> Option<FailureKind> {
    match expected {
        ExpectedBody::Html | ExpectedBody::Anything => None,
        _ if is_block_page(answer) => Some(FailureKind::Blocked),
        ExpectedBody::Json | ExpectedBody::Xml | ExpectedBody::Text => {
            answer.is_html().then_some(FailureKind::Malformed)
        }
    }
}

fn says_too_many(answer: &Answer) -> bool {
    let head = &answer.body[..answer.body.len().min(256)];
    let head = String::from_utf8_lossy(head);
    answer.body.len() < 4096 && head.to_lowercase().contains("too many requests")
}

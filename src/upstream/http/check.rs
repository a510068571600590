//! What an answer means that holds for every source (spec 004 §5.1). Never trusts a 200: the body is looked at first.
//!
//! Not here: what only one source's answers mean: its profile's `check` runs first.

use std::time::Duration;

use http::StatusCode;

use super::{Answer, ExpectedBody, Failure, FailureKind, Outgoing, Profile};

/// The longest wait that is accepted from a source.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// The answer, or the failure that it is.
pub(super) fn check(profile: &Profile, outgoing: &Outgoing, answer: Answer) -> Result<Answer, Failure> {
    if outgoing.accepted.contains(&answer.status) {
        return Ok(answer);
    }
    let failure = (profile.check)(&answer).or_else(|| by_common_rules(outgoing.expected, &answer));
    failure.map_or(Ok(answer), |failure| {
        let retry_after = failure.retry_after.map(|wait| wait.min(LONGEST_WAIT));
        Err(failure.with_retry_after(retry_after))
    })
}

fn by_common_rules(expected: ExpectedBody, answer: &Answer) -> Option<Failure> {
    let status = answer.status;
    if status == StatusCode::TOO_MANY_REQUESTS || says_too_many(answer) {
        let failure = Failure::new(FailureKind::RateLimited, described(answer));
        return Some(failure.with_retry_after(answer.retry_after()));
    }
    let kind = match status.as_u16() {
        200..=299 if is_unexpected_page(expected, answer) => FailureKind::Blocked,
        200..=299 => return None,
        401 => FailureKind::AuthFailed,
        403 | 451 => FailureKind::Blocked,
        404 | 410 => FailureKind::NotFound,
        408 => FailureKind::TimedOut,
        500..=599 => FailureKind::Down,
        _ => FailureKind::Malformed,
    };
    Some(Failure::new(kind, described(answer)))
}

/// For operators: the form of the answer, nothing of what it says.
fn described(answer: &Answer) -> String {
    let media_type: String = answer.media_type().chars().take(64).collect();
    format!("HTTP {}, {} bytes of {media_type:?}", answer.status.as_u16(), answer.body.len())
}

fn is_unexpected_page(expected: ExpectedBody, answer: &Answer) -> bool {
    matches!(expected, ExpectedBody::Json | ExpectedBody::Xml | ExpectedBody::Text) && answer.is_html()
}

fn says_too_many(answer: &Answer) -> bool {
    let head = &answer.body[..answer.body.len().min(256)];
    let head = String::from_utf8_lossy(head);
    answer.body.len() < 4096 && head.to_lowercase().contains("too many requests")
}

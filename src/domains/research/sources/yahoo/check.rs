//! What only Yahoo's answers say: a 404 without its envelope, days of which it has nothing, and refusals of a crumb.

use ::http::StatusCode;
use serde::Deserialize;

use super::{crumb, envelope::Envelope, request::FOR_CRUMB};
use toolwire_sources::upstream::http::{Answer, Failure, FailureKind};

/// The envelope of a chart, in which a 400 says why.
#[derive(Deserialize)]
struct Refusal {
    chart: Envelope<serde::de::IgnoredAny>,
}

/// The error where there is no crumb: Europeans get a page of consent in its place.
const NO_CRUMB: &str = "Yahoo Finance gives out no fundamentals and no earnings per share from here for now. Prices and \
                        quarterly results need no such access: go on with those.";

/// The failure that an answer stands for, if it is Yahoo's own. A 404 means that there is no such symbol only where
/// Yahoo's own envelope says so.
pub(super) fn check(answer: &Answer) -> Option<Failure> {
    let is_json = answer.body.trim_ascii_start().starts_with(b"{");
    if !is_json && answer.text().contains("Will be right back") {
        return Some(Failure::new(FailureKind::Down, "a page says that it will be right back"));
    }
    if let Some(failure) = of_crumb(answer) {
        return Some(failure);
    }
    let is_document = answer.url.path().contains("/finance/");
    match answer.status {
        StatusCode::NOT_FOUND if is_document && !is_json => {
            Some(Failure::malformed("a 404 without an envelope"))
        }
        StatusCode::BAD_REQUEST => answer.json::<Refusal>().ok()?.chart.open().err(),
        _ => None,
    }
}

/// A refusal of a crumb, or of what was asked with one. Whatever comes in a crumb's place is one, but for what passes.
fn of_crumb(answer: &Answer) -> Option<Failure> {
    let status = answer.status.as_u16();
    let kind = if answer.url.fragment() == Some(FOR_CRUMB) {
        let text = answer.text();
        let is_for_now = matches!(status, 408 | 429 | 500..) || text.contains("Too Many Requests");
        let is_crumb = status == 200 && crumb::is_crumb(text.trim());
        (!is_for_now && !is_crumb).then_some(FailureKind::Blocked)?
    } else if answer.url.path().contains("/quoteSummary/") && status == 401 {
        FailureKind::AuthFailed
    } else {
        return None;
    };
    let detail = format!("no crumb, or none that holds: HTTP {status}, {} bytes", answer.body.len());
    Some(Failure::new(kind, detail).with_message(NO_CRUMB))
}

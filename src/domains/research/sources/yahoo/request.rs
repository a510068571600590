//! Requests to Yahoo Finance. Each goes out under the configured User-Agent, which is a browser's: without one every
//! request is one too many.

use ::http::StatusCode;

use super::settings::Settings;
use toolwire_sources::upstream::{
    address::address,
    http::{Answer, ExpectedBody, Outgoing},
};

/// Marks the requests for a crumb, in the fragment of their address, which is never sent. A refusal of one of them
/// concerns the crumb, not the data that needs none.
pub(super) const FOR_CRUMB: &str = "for-crumb";

/// Asks for a document of the data.
pub(super) fn get(
    settings: &Settings,
    path: &[&str],
    query: &[(&str, &str)],
    expected: ExpectedBody,
) -> Outgoing {
    Outgoing::get(address(&settings.base, path, query), expected)
}

pub(super) fn get_crumb(settings: &Settings) -> Outgoing {
    let mut url = address(&settings.base, &["v1", "test", "getcrumb"], &[]);
    url.set_fragment(Some(FOR_CRUMB));
    Outgoing::get(url, ExpectedBody::Text)
}

/// Asks for the cookie that a crumb belongs to. The host has no page to give: where it gives a cookie its status says
/// nothing, unless that we are too many.
pub(super) fn get_cookie(settings: &Settings) -> Outgoing {
    let mut url = settings.cookie_base.clone();
    url.set_fragment(Some(FOR_CRUMB));
    Outgoing::get(url, ExpectedBody::Anything).accepting_if(gives_cookie)
}

fn gives_cookie(answer: &Answer) -> bool {
    answer.status != StatusCode::TOO_MANY_REQUESTS && answer.cookies().next().is_some()
}

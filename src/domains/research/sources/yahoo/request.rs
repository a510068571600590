//! Requests to Yahoo Finance, each under a browser's name.

use ::http::{HeaderValue, header};

use super::settings::Settings;
use crate::upstream::{
    address::address,
    http::{ExpectedBody, Outgoing},
};

/// Without a browser's name every request is one too many.
const USER_AGENT: HeaderValue = HeaderValue::from_static(
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36",
);
/// Asks for a document of the data.
pub(super) fn get(
    settings: &Settings,
    path: &[&str],
    query: &[(&str, &str)],
    expected: ExpectedBody,
) -> Outgoing {
    named(Outgoing::get(address(&settings.base, path, query), expected))
}

/// Asks for the cookie that a crumb belongs to.
pub(super) fn get_cookie(settings: &Settings) -> Outgoing {
    named(Outgoing::get(settings.cookie_base.clone(), ExpectedBody::Anything))
}

fn named(outgoing: Outgoing) -> Outgoing {
    outgoing.with_header(header::USER_AGENT, USER_AGENT)
}

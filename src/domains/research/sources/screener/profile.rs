//! What the stack of upstream requests must know of Screener.in, and what only its answers say.

use std::time::Duration;

use http::header;

use super::page;
use toolwire_sources::upstream::http::{Answer, CredentialsOf, Failure, FailureKind, Profile};

/// Marks the request that signs in, in the fragment of its address, which is never sent. The page after bad credentials
/// is that of a first visit, so only the mark distinguishes them.
pub(super) const SIGN_IN: &str = "sign-in";

/// Screener.in. Nothing is retried: the site bans accounts that ask often.
pub const PROFILE: Profile = Profile {
    name: "screener",
    title: "Screener.in",
    timeout: Duration::from_secs(20),
    max_body: 2 * 1024 * 1024,
    may_retry: false,
    credentials: CredentialsOf::Login,
    check,
};

fn check(answer: &Answer) -> Option<Failure> {
    let is_form = answer.url.path().ends_with("/login/");
    let refusal = match answer.status.as_u16() {
        200 if answer.url.fragment() == Some(SIGN_IN) => "the login page again",
        // The wall that asks visitors to register is one too.
        200 if !is_form && is_anonymous(answer) => "a page for an anonymous visitor",
        301..=399 if !is_form && leads_to_login(answer) => "a redirect to the login page or the wall",
        _ => return None,
    };
    let message = "Screener.in rejected the password: sign in again, with SetScreenerCredentials.";
    Some(Failure::new(FailureKind::AuthFailed, refusal).with_message(message))
}

/// An empty page is anonymous too, and says nothing of credentials.
fn is_anonymous(answer: &Answer) -> bool {
    !answer.body.trim_ascii().is_empty() && page::is_anonymous(&answer.text())
}

fn leads_to_login(answer: &Answer) -> bool {
    let location = answer.headers.get(header::LOCATION).and_then(|value| value.to_str().ok());
    location.is_some_and(|to| to.contains("/login/") || to.contains("/register/"))
}

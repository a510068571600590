//! What is kept of a sign-in, and when its token is replaced. Not here: where it is kept.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;
use url::Url;

use super::token_answer::Tokens;

/// A token is refreshed when less than this is left of its life, or half of a shorter one.
const MARGIN: Duration = Duration::from_mins(1);

/// What is kept of a sign-in.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SignIn {
    /// The origin of the server that the token is presented to.
    pub(super) server: String,
    pub(super) issuer: String,
    pub(super) resource: String,
    /// Where the person signed in.
    pub(super) url: Url,
    pub(super) token_endpoint: Url,
    pub(super) client_id: String,
    pub(super) scope: String,
    pub(super) access_token: SecretString,
    pub(super) refresh_token: Option<SecretString>,
    /// In seconds since 1970, as the others.
    pub(super) signed_in_at: u64,
    pub(super) issued_at: u64,
    /// Unless the issuer does not say.
    pub(super) expires_at: Option<u64>,
}

impl SignIn {
    /// The same with tokens that replace its own.
    pub(super) fn with(self, tokens: Tokens, now: SystemTime) -> Self {
        let Tokens { access, refresh, life, scope } = tokens;
        let issued_at = seconds(now);
        Self {
            access_token: access,
            refresh_token: refresh.or(self.refresh_token),
            scope: scope.unwrap_or(self.scope),
            issued_at,
            expires_at: life.map(|life| issued_at.saturating_add(life.as_secs())),
            ..self
        }
    }

    /// Whether the access token is valid, as far as is known.
    pub(super) fn is_valid(&self, now: SystemTime) -> bool {
        self.expires_at.is_none_or(|end| seconds(now) < end)
    }

    /// Whether the access token is to be replaced.
    pub(super) fn is_due(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|end| {
            let margin = MARGIN.as_secs().min(end.saturating_sub(self.issued_at) / 2);
            seconds(now) >= end.saturating_sub(margin)
        })
    }

    pub(super) fn to_json(&self) -> String {
        let exposed = |token: &SecretString| token.expose_secret().to_owned();
        let value = json!({
            "server": self.server,
            "issuer": self.issuer,
            "resource": self.resource,
            "url": self.url.as_str(),
            "token_endpoint": self.token_endpoint.as_str(),
            "client_id": self.client_id,
            "scope": self.scope,
            "access_token": exposed(&self.access_token),
            "refresh_token": self.refresh_token.as_ref().map(exposed),
            "signed_in_at": self.signed_in_at,
            "issued_at": self.issued_at,
            "expires_at": self.expires_at,
        });
        format!("{value:#}\n")
    }
}

/// Seconds since 1970.
pub(super) fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
impl SignIn {
    /// One without an end and without a refresh token.
    pub(super) fn example() -> Self {
        Self {
            server: "https://tools.example".to_owned(),
            issuer: "https://login.example".to_owned(),
            resource: "https://tools.example/mcp".to_owned(),
            url: "https://tools.example/mcp".parse().unwrap(),
            token_endpoint: "https://login.example/token".parse().unwrap(),
            client_id: "me".to_owned(),
            scope: "tools".to_owned(),
            access_token: "t0ken".into(),
            refresh_token: None,
            signed_in_at: 1_000,
            issued_at: 1_000,
            expires_at: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn tokens(life: Option<u64>, refresh: Option<&str>) -> Tokens {
        let life = life.map(Duration::from_secs);
        Tokens { access: "other".into(), refresh: refresh.map(SecretString::from), life, scope: None }
    }

    #[test]
    fn a_token_is_due_a_minute_before_its_end_or_after_half_its_life() {
        let of = |life| SignIn::example().with(tokens(life, None), at(2_000));
        let long = of(Some(600));
        assert!(!long.is_due(at(2_539)) && long.is_due(at(2_540)) && long.is_valid(at(2_599)));
        assert!(!long.is_valid(at(2_600)));
        let short = of(Some(10));
        assert!(!short.is_due(at(2_004)) && short.is_due(at(2_005)));
        assert!(!of(None).is_due(at(1 << 40)) && of(None).is_valid(at(1 << 40)));
    }

    #[test]
    fn a_refresh_token_stays_until_another_one_comes() {
        let first = SignIn::example().with(tokens(None, Some("r1")), at(0));
        let second = first.with(tokens(None, None), at(1));
        assert_eq!(second.refresh_token.as_ref().unwrap().expose_secret(), "r1");
        let third = second.with(tokens(None, Some("r2")), at(2));
        assert_eq!(third.refresh_token.unwrap().expose_secret(), "r2");
    }
}

//! What a token endpoint answers: tokens, or an error of OAuth.

use std::{fmt, time::Duration};

use reqwest::StatusCode;
use secrecy::SecretString;

use super::web::Answer;
use toolwire_base::words::one_line;

/// Maximum length of a token, in bytes.
const MAX_TOKEN: usize = 16 * 1_024;

/// The tokens that an authorization server issues.
#[derive(Clone, Debug)]
pub(super) struct Tokens {
    pub(super) access: SecretString,
    pub(super) refresh: Option<SecretString>,
    /// How long the access token is valid, if that is said.
    pub(super) life: Option<Duration>,
    /// The scopes, if they are others than those requested.
    pub(super) scope: Option<String>,
}

/// Why there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OAuthError {
    /// Such as `authorization_pending`; empty if the answer is none of OAuth's.
    pub(super) code: String,
    description: String,
    /// Whether the same request may be answered later.
    pub(super) is_passing: bool,
}

impl Tokens {
    pub(super) fn read(answer: &Answer) -> Result<Self, OAuthError> {
        let Answer { status, body, .. } = answer;
        if !status.is_success() {
            return Err(OAuthError::read(answer));
        }
        let token = |name: &str| body[name].as_str().filter(|it| is_token(it)).map(SecretString::from);
        let is_bearer = body["token_type"].as_str().is_some_and(|it| it.eq_ignore_ascii_case("bearer"));
        let access = token("access_token").filter(|_| is_bearer);
        Ok(Self {
            access: access.ok_or_else(|| OAuthError::of("it issued no bearer token".to_owned()))?,
            refresh: token("refresh_token"),
            life: body["expires_in"].as_u64().map(Duration::from_secs),
            scope: body["scope"].as_str().map(str::to_owned),
        })
    }
}

impl OAuthError {
    pub(super) fn read(answer: &Answer) -> Self {
        let status = answer.status;
        let is_passing = status.is_server_error()
            || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
        let text = |name: &str| one_line(answer.body[name].as_str().unwrap_or_default());
        match text("error") {
            code if code.is_empty() => Self { is_passing, ..Self::of(format!("it answered {status}")) },
            code => Self { code, description: text("error_description"), is_passing },
        }
    }

    fn of(description: String) -> Self {
        Self { code: String::new(), description, is_passing: false }
    }
}

impl fmt::Display for OAuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = [&self.code, &self.description].into_iter().filter(|it| !it.is_empty());
        f.write_str(&words.map(String::as_str).collect::<Vec<_>>().join(": "))
    }
}

/// Whether a text can stand in a header.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;
    use serde_json::{Value, json};

    use super::*;

    fn read(status: u16, body: Value) -> Result<Tokens, String> {
        let status = StatusCode::from_u16(status).unwrap();
        Tokens::read(&Answer { status, challenge: None, words: String::new(), body })
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_bearer_token_is_read_and_all_else_is_an_error_in_words() {
        let tokens =
            read(200, json!({"access_token": "a.b", "token_type": "bearer", "expires_in": 60})).unwrap();
        assert_eq!((tokens.access.expose_secret(), tokens.life), ("a.b", Some(Duration::from_mins(1))));
        assert!(tokens.refresh.is_none());
        for (status, body, words) in [
            (200, json!({"access_token": "a", "token_type": "DPoP"}), "it issued no bearer token"),
            (200, json!({"access_token": "a b", "token_type": "Bearer"}), "it issued no bearer token"),
            (200, Value::Null, "it issued no bearer token"),
            (500, Value::Null, "it answered 500 Internal Server Error"),
            (400, json!({"error": "slow_down"}), "slow_down"),
            (400, json!({"error": "access_denied", "error_description": "no"}), "access_denied: no"),
            (400, json!({"error": "a", "error_description": "no\nsigned in at b"}), "a: no signed in at b"),
        ] {
            assert_eq!(read(status, body).unwrap_err(), words);
        }
    }

    #[test]
    fn a_server_that_is_busy_or_away_may_answer_later() {
        for (status, code, is_passing) in [
            (503, "", true),
            (503, "temporarily_unavailable", true),
            (429, "", true),
            (400, "slow_down", false),
            (401, "invalid_client", false),
            (404, "", false),
        ] {
            let (status, body) = (StatusCode::from_u16(status).unwrap(), json!({"error": code}));
            let error = OAuthError::read(&Answer { status, challenge: None, words: String::new(), body });
            assert_eq!(error.is_passing, is_passing, "{status} {code}");
        }
    }
}

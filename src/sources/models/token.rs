//! A token by OAuth's client credentials: fetched on first use, by one caller for all, refreshed a minute
//! before it ends, and dropped when it is refused.

use std::{fmt, time::Duration};

use reqwest::{Client, StatusCode, header};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use url::form_urlencoded;

use super::{ModelError, bound, error::asked_wait};
use toolwire_base::{clock, words::bytes_without_bom};
use toolwire_config::OAuth;

/// Maximum time for which a token is used, even if it states a longer one.
const LONGEST_LIFE: Duration = Duration::from_hours(24);
/// How long a token is used that says nothing of its end.
const USUAL_LIFE: Duration = Duration::from_mins(5);
/// A token is refreshed this long before it ends, but never before half of its life.
const MARGIN: Duration = Duration::from_mins(1);
/// No answer with a token is longer, in bytes.
const LONGEST: usize = 64 * 1024;

/// The token in use. While it is fetched, all callers wait for the one fetch.
#[derive(Debug)]
pub(super) struct Tokens {
    oauth: OAuth,
    client: Client,
    kept: Mutex<Option<Token>>,
}

/// A token, and until when it is used.
#[derive(Clone)]
pub(super) struct Token {
    pub(super) secret: SecretString,
    until: Instant,
}

/// `{"access_token": …, "token_type": "bearer", "expires_in": 3600}`.
#[derive(Deserialize)]
struct TokenResponse {
    access_token: SecretString,
    expires_in: Option<f64>,
}

impl Tokens {
    pub(super) fn new(oauth: OAuth, client: Client) -> Self {
        Self { oauth, client, kept: Mutex::default() }
    }

    /// A token that has not ended.
    pub(super) async fn get(&self) -> Result<Token, ModelError> {
        let mut kept = self.kept.lock().await;
        if let Some(token) = kept.as_ref().filter(|token| clock::now() < token.until) {
            return Ok(token.clone());
        }
        let token = timeout(bound::TOKEN, self.fetch()).await.map_err(|_| ModelError::TimedOut)??;
        *kept = Some(token.clone());
        Ok(token)
    }

    /// Drops a token that was refused, unless there is a newer one already.
    pub(super) async fn forget(&self, refused: &Token) {
        let mut kept = self.kept.lock().await;
        let is_same = |token: &Token| token.secret.expose_secret() == refused.secret.expose_secret();
        if kept.as_ref().is_some_and(is_same) {
            *kept = None;
        }
    }

    async fn fetch(&self) -> Result<Token, ModelError> {
        let asked_at = clock::now();
        let request = self
            .client
            .post(self.oauth.token_url.clone())
            // Each part is written as in a form before it is put together (RFC 6749, 2.3.1).
            .basic_auth(
                percent_encode(&self.oauth.client_id),
                Some(percent_encode(self.oauth.client_secret.expose_secret())),
            )
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(header::ACCEPT, "application/json")
            .body(self.form());
        let mut answer = request.send().await.map_err(|_| ModelError::Unavailable)?;
        match answer.status() {
            status if status.is_success() => {}
            StatusCode::TOO_MANY_REQUESTS => {
                return Err(ModelError::RateLimited { after: asked_wait(answer.headers()) });
            }
            status if status.is_client_error() => return Err(ModelError::AuthFailed),
            _ => return Err(ModelError::Unavailable),
        }
        let mut bytes = Vec::new();
        while let Some(chunk) = answer.chunk().await.map_err(|_| ModelError::Unavailable)? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LONGEST {
                return Err(ModelError::Malformed);
            }
        }
        parse(&bytes, asked_at)
    }

    fn form(&self) -> String {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("grant_type", "client_credentials");
        for (name, value) in [("scope", &self.oauth.scope), ("audience", &self.oauth.audience)] {
            if !value.is_empty() {
                form.append_pair(name, value);
            }
        }
        form.finish()
    }
}

fn parse(bytes: &[u8], asked_at: Instant) -> Result<Token, ModelError> {
    let given: TokenResponse =
        serde_json::from_slice(bytes_without_bom(bytes)).map_err(|_| ModelError::Malformed)?;
    if given.access_token.expose_secret().is_empty() {
        return Err(ModelError::AuthFailed);
    }
    let life = given.expires_in.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let life = life.unwrap_or(USUAL_LIFE).min(LONGEST_LIFE);
    let until = asked_at + life.saturating_sub(MARGIN).max(life / 2);
    Ok(Token { secret: given.access_token, until })
}

fn percent_encode(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("until", &self.until).finish_non_exhaustive()
    }
}

//! The application's token: fetched when it is first needed, kept until shortly before it expires.

use std::time::Duration;

use http::{HeaderValue, StatusCode, header};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::{sync::Mutex, time::Instant};

use super::settings::Settings;
use toolwire_base::clock;
use toolwire_sources::upstream::http::{Answer, Client, ExpectedBody, Failure, FailureKind, Outgoing};
use toolwire_tool::context::ToolContext;

/// Maximum lifetime of a token, whatever it states.
const MAX_LIFETIME: Duration = Duration::from_hours(24);

/// No token is longer, in bytes.
const MAX_TOKEN: usize = 8 * 1024;

/// A token is refreshed this long before it expires, but never before half of its life.
const MARGIN: Duration = Duration::from_mins(1);

/// The token in use. While it is fetched, all callers wait for the one fetch.
#[derive(Debug, Default)]
pub(super) struct Tokens(Mutex<Option<Token>>);

#[derive(Clone, Debug)]
pub(super) struct Token {
    /// The header that carries it, marked as sensitive so that it is never logged.
    pub(super) bearer: HeaderValue,
    until: Instant,
}

/// `{"access_token": …, "token_type": "bearer", "expires_in": 86400, "scope": "*"}`, or 200 with an error.
#[derive(Deserialize)]
struct TokenResponse {
    access_token: Option<SecretString>,
    expires_in: Option<f64>,
    error: Option<serde_json::Value>,
}

impl Tokens {
    /// A token that has not expired.
    pub(super) async fn get(
        &self,
        client: &Client,
        settings: &Settings,
        context: &ToolContext,
    ) -> Result<Token, Failure> {
        let waiting = tokio::time::timeout_at(context.deadline.at(), self.0.lock());
        let out_of_time = |_| Failure::new(FailureKind::OutOfTime, "another call was fetching the token");
        let mut kept = waiting.await.map_err(out_of_time)?;
        if let Some(token) = kept.as_ref().filter(|token| clock::now() < token.until) {
            return Ok(token.clone());
        }
        let token = fetch(client, settings, context).await?;
        *kept = Some(token.clone());
        Ok(token)
    }

    /// Drops a token that was refused, unless there is a newer one already.
    pub(super) async fn forget(&self, refused: &Token) {
        let mut kept = self.0.lock().await;
        if kept.as_ref().is_some_and(|token| token.bearer == refused.bearer) {
            *kept = None;
        }
    }
}

async fn fetch(client: &Client, settings: &Settings, context: &ToolContext) -> Result<Token, Failure> {
    let Some(credentials) = &settings.credentials else {
        return Err(Failure::new(FailureKind::NotConfigured, "no client id and secret are configured")
            .with_message("Reddit needs credentials, and none are configured."));
    };
    let url = settings.token_url.join("api/v1/access_token");
    let url = url.map_err(|error| Failure::malformed(error.to_string()))?;
    let request = Outgoing::post_form(url, &[("grant_type", "client_credentials")], ExpectedBody::Json)
        .with_header(header::AUTHORIZATION, credentials.header())
        .with_header(header::USER_AGENT, settings.user_agent.clone())
        // Idempotent: asking twice gives two valid tokens.
        .repeatable();
    let asked_at = clock::now();
    let answer = client.send(request, context).await?;
    client.read(answer, context, move |answer| parse(answer, asked_at)).await
}

fn parse(answer: &Answer, asked_at: Instant) -> Result<Token, Failure> {
    let given: TokenResponse = answer.json()?;
    let token = given.access_token.filter(|token| token.expose_secret().len() <= MAX_TOKEN);
    let Some(token) = token.filter(|_| given.error.is_none()) else {
        return Err(Failure::malformed("an answer without the token"));
    };
    let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.expose_secret()))
        .map_err(|_| Failure::malformed("a token that is not a valid header value"))?;
    bearer.set_sensitive(true);
    let life = given.expires_in.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let life = life
        .map(|life| life.min(MAX_LIFETIME))
        .ok_or_else(|| Failure::malformed("a token without an end"))?;
    Ok(Token { bearer, until: asked_at + life.saturating_sub(MARGIN).max(life / 2) })
}

/// The error in a response with status 200: our credentials, or the form of the request, are refused.
pub(super) fn refusal(answer: &Answer) -> Option<Failure> {
    let is_token = answer.status == StatusCode::OK && answer.url.path().ends_with("/api/v1/access_token");
    let given: TokenResponse = is_token.then(|| answer.json().ok())??;
    let error = given.error?;
    Some(Failure::new(FailureKind::AuthFailed, format!("HTTP 200 with the error {error}")))
}
